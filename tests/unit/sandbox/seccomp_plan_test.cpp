#include "bawn/sandbox/plan.hpp"
#include "bpf_evaluator.hpp"
#include "samples.hpp"
#include "seccomp_rules.hpp"

#include <gmock/gmock.h>
#include <seccomp.h>

#include <fcntl.h>
#include <linux/audit.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <set>

namespace bawn::sandbox {
namespace {

using test::evaluate;
using test::policy_named;
using testing::AnyOf;
using testing::Contains;
using testing::Eq;

#ifndef __x86_64__
#error "the numbers in this test are those of x86-64"
#endif

using Arguments = std::array<std::uint64_t, 6>;

seccomp_data call(int number, Arguments arguments = {}) {
  seccomp_data data{};
  data.nr = number;
  data.arch = AUDIT_ARCH_X86_64;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    data.args[i] = arguments[i];
  }
  return data;
}

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t error(int number) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number);
}

/// All four that a session has with namespaces.
constexpr SeccompSituation kInside{true, true, true, true};
constexpr SeccompSituation kBare{};

std::vector<BpfInstruction> program_for(const char* policy, const SeccompSituation& situation) {
  auto plan = plan_seccomp(policy_named(policy), situation);
  EXPECT_TRUE(plan) << plan.error().message();
  return plan ? plan->program : std::vector<BpfInstruction>{};
}

int number_of(const SeccompRule& rule) {
  const int number = seccomp_syscall_resolve_name(rule.name);
  return number == __NR_SCMP_ERROR ? rule.number : number;
}

/// The rule table read by itself: the answers that its matching rules give.
bool holds(const ArgTest& test, const Arguments& arguments) {
  const std::uint64_t value = arguments[test.index];
  switch (test.kind) {
    case ArgTest::Kind::Equal:
      return value == test.value;
    case ArgTest::Kind::NotEqual:
      return value != test.value;
    case ArgTest::Kind::Greater:
      return value > test.value;
    case ArgTest::Kind::MaskedEqual:
      return (value & test.mask) == test.value;
  }
  return false;
}

std::set<std::uint32_t> answers(const Policy& policy, const SeccompSituation& situation, int number,
                                const Arguments& arguments) {
  std::set<std::uint32_t> found;
  for (const SeccompRule& rule : seccomp_rules()) {
    if (applies(rule, conditions_of(policy, situation)) && number_of(rule) == number &&
        std::ranges::all_of(rule.tests,
                            [&](const ArgTest& test) { return holds(test, arguments); })) {
      found.insert(error(rule.error));
    }
  }
  return found.empty() ? std::set{kAllow} : found;
}

/// Values near the edges that rules speak of.
std::vector<std::uint64_t> interesting_values() {
  std::vector<std::uint64_t> values = {0, 1, 2, 0x7fffffff, 0xffffffff, ~0ULL, 1ULL << 32};
  for (const SeccompRule& rule : seccomp_rules()) {
    for (const ArgTest& test : rule.tests) {
      values.insert(values.end(), {test.value, test.value + 1, test.value - 1,
                                   test.value | (1ULL << 40), test.value | 0xff000});
    }
  }
  return values;
}

TEST(SeccompPlan, ProgramAnswersAsTheTableSaysForEverySituation) {
  const std::vector<std::uint64_t> values = interesting_values();
  std::mt19937 random(20260101);  // fixed: a failure must come back
  std::uniform_int_distribution<std::size_t> pick(0, values.size() - 1);
  for (const char* name : {"workspace-write", "open-net"}) {
    const Policy policy = policy_named(name);
    for (unsigned int bits = 0; bits < 16; ++bits) {
      const SeccompSituation situation{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0,
                                       (bits & 8) != 0};
      const auto plan = plan_seccomp(policy, situation);
      ASSERT_TRUE(plan) << plan.error().message();
      for (int number = 0; number < 480; ++number) {
        for (int round = 0; round < 12; ++round) {
          Arguments arguments;
          for (std::uint64_t& argument : arguments) {
            argument = values[pick(random)];
          }
          const auto got = evaluate(plan->program, call(number, arguments));
          ASSERT_TRUE(got) << name << " call " << number;
          ASSERT_THAT(answers(policy, situation, number, arguments), Contains(*got))
              << name << " situation " << bits << " call " << number;
        }
      }
    }
  }
}

TEST(SeccompPlan, EachRuleIsHitByArgumentsMadeForIt) {
  for (const SeccompRule& rule : seccomp_rules()) {
    const int number = number_of(rule);
    ASSERT_GE(number, 0) << rule.name;
    Arguments arguments{};
    for (const ArgTest& test : rule.tests) {
      const bool beside =
          test.kind == ArgTest::Kind::NotEqual || test.kind == ArgTest::Kind::Greater;
      arguments[test.index] = test.value + (beside ? 1 : 0);
    }
    const Policy policy =
        policy_named(rule.when == When::SocketsInsideNoUnix ? "open-net" : "workspace-write");
    const SeccompSituation situation{.network_namespace = rule.when == When::SocketsInside,
                                     .host_sockets_hidden = rule.when == When::SocketsUnixOnly,
                                     .supervised = rule.when == When::Supervised,
                                     .sockets_inside = rule.when == When::SupervisedInside};
    if (!applies(rule, conditions_of(policy, situation))) {
      ADD_FAILURE() << rule.name << " applies nowhere: " << rule.reason;
      continue;
    }
    const auto plan = plan_seccomp(policy, situation);
    ASSERT_TRUE(plan);
    EXPECT_NE(evaluate(plan->program, call(number, arguments)), kAllow)
        << rule.name << ": " << rule.reason;
  }
}

TEST(SeccompPlan, KillsForeignArchitecturesAndAnswersX32WithNoSuchCall) {
  const auto program = program_for("workspace-write", kInside);
  seccomp_data foreign = call(SYS_read);
  foreign.arch = AUDIT_ARCH_I386;
  EXPECT_EQ(evaluate(program, foreign), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(evaluate(program, call(0x40000000 | SYS_read)), error(ENOSYS));
  EXPECT_EQ(evaluate(program, call(-1)), kAllow) << "a tracer's way to skip a call";
  EXPECT_EQ(evaluate(program, call(SYS_read)), kAllow);
}

TEST(SeccompPlan, TerminalInjectionIsRefusedWithHighBitsSetAsWell) {
  const auto program = program_for("workspace-write", kInside);
  EXPECT_EQ(evaluate(program, call(SYS_ioctl, {0, 0x5412})), error(EPERM));
  EXPECT_EQ(evaluate(program, call(SYS_ioctl, {0, 0x5412 | (1ULL << 32)})), error(EPERM));
  EXPECT_EQ(evaluate(program, call(SYS_ioctl, {0, 0x5413})), kAllow) << "TIOCGWINSZ";
}

TEST(SeccompPlan, SetuidBitsAreRefusedAndPlainModesAreNot) {
  const auto program = program_for("workspace-write", kInside);
  EXPECT_EQ(evaluate(program, call(SYS_chmod, {0, 04755})), error(EPERM));
  EXPECT_EQ(evaluate(program, call(SYS_chmod, {0, 0755})), kAllow);
  EXPECT_EQ(evaluate(program, call(452, {0, 0, 02755})), error(EPERM)) << "fchmodat2";
  EXPECT_EQ(evaluate(program, call(SYS_openat, {0, 0, O_CREAT | O_WRONLY, 04755})), error(EPERM));
  EXPECT_EQ(evaluate(program, call(SYS_openat, {0, 0, O_RDONLY, 04755})), kAllow)
      << "the register means nothing without O_CREAT";
}

TEST(SeccompPlan, ThreadsMayStartAndNamespacesMayNot) {
  const auto program = program_for("workspace-write", kInside);
  EXPECT_EQ(evaluate(program, call(SYS_clone, {0x3d0f00})), kAllow) << "pthread_create";
  EXPECT_EQ(evaluate(program, call(SYS_clone, {0x10000000 | 17})), error(EPERM));
  EXPECT_EQ(evaluate(program, call(SYS_unshare, {0x00020000})), error(EPERM));
  EXPECT_EQ(evaluate(program, call(435)), error(ENOSYS)) << "clone3 falls back to clone";
}

TEST(SeccompPlan, WithANetworkNamespaceLoopbackAndUnixSocketsWork) {
  const auto program = program_for("workspace-write", kInside);
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_UNIX, SOCK_SEQPACKET})), kAllow);
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC})), kAllow);
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_NETLINK, SOCK_RAW, 0})), kAllow);
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_NETLINK, SOCK_RAW, 9})), error(EAFNOSUPPORT));
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_VSOCK, SOCK_STREAM})), error(EAFNOSUPPORT));
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_VSOCK | (1ULL << 32), SOCK_STREAM})),
            error(EAFNOSUPPORT));
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_INET, SOCK_RAW, 1})), error(EPERM));
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_INET, SOCK_STREAM, 262})),
            error(EPROTONOSUPPORT));
  EXPECT_EQ(evaluate(program, call(SYS_socketpair, {AF_UNIX, SOCK_DGRAM})), kAllow);
}

TEST(SeccompPlan, WithoutNamespacesThereIsNoSocketButAStreamPair) {
  const auto program = program_for("workspace-write", kBare);
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_UNIX, SOCK_STREAM})), error(EPERM));
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_INET, SOCK_DGRAM})), error(EPERM));
  EXPECT_EQ(evaluate(program, call(SYS_socketpair, {AF_UNIX, SOCK_STREAM})), kAllow);
  EXPECT_EQ(evaluate(program, call(SYS_socketpair, {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC})),
            error(EPERM));
}

TEST(SeccompPlan, WhereLandlockHoldsSocketPathsUnixSocketsStayWithoutANamespace) {
  const auto program = program_for("workspace-write", {.host_sockets_hidden = true});
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_UNIX, SOCK_STREAM})), kAllow);
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_INET, SOCK_STREAM})), error(EAFNOSUPPORT));
}

TEST(SeccompPlan, FullNetworkWithoutMountsStillKeepsOffTheHostsUnixSockets) {
  const auto program = program_for("open-net", kBare);
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_INET, SOCK_STREAM})), kAllow);
  EXPECT_EQ(evaluate(program, call(SYS_socket, {AF_UNIX, SOCK_STREAM})), error(EAFNOSUPPORT));
}

TEST(SeccompPlan, WithoutAPidNamespaceOnlyOwnLimitsCanBeChanged) {
  const auto bare = program_for("workspace-write", kBare);
  const auto inside = program_for("workspace-write", kInside);
  EXPECT_EQ(evaluate(bare, call(SYS_prlimit64, {1234, 7, 0x1000})), error(EPERM));
  EXPECT_EQ(evaluate(bare, call(SYS_prlimit64, {0, 7, 0x1000})), kAllow);
  EXPECT_EQ(evaluate(bare, call(SYS_prlimit64, {1234, 7, 0})), kAllow) << "reading";
  EXPECT_EQ(evaluate(inside, call(SYS_prlimit64, {1234, 7, 0x1000})), kAllow);
  EXPECT_EQ(evaluate(bare, call(SYS_shmget)), error(EPERM));
  EXPECT_EQ(evaluate(inside, call(SYS_shmget)), kAllow);
}

TEST(SeccompPlan, WhatDevelopersNeedStaysAllowed) {
  const auto program = program_for("workspace-write", kInside);
  for (const int number :
       {SYS_execve, SYS_ptrace, SYS_kill, SYS_mmap, SYS_futex, SYS_landlock_create_ruleset,
        SYS_seccomp, SYS_openat2, SYS_pidfd_open, SYS_memfd_create}) {
    EXPECT_EQ(evaluate(program, call(number)), kAllow) << number;
  }
}

TEST(SeccompPlan, EveryRuleHasAReasonAndAnError) {
  for (const SeccompRule& rule : seccomp_rules()) {
    EXPECT_STRNE(rule.reason, "") << rule.name;
    EXPECT_THAT(rule.error,
                AnyOf(Eq(EPERM), Eq(ENOSYS), Eq(EOPNOTSUPP), Eq(EAFNOSUPPORT), Eq(EPROTONOSUPPORT)))
        << rule.name;
  }
}

TEST(SeccompPlan, TheBuildHasCompiledTheRulesOfEverySituation) {
  for (const char* name : {"workspace-write", "open-net"}) {
    for (unsigned int bits = 0; bits < 64; ++bits) {
      const auto bit = [&](unsigned int number) { return ((bits >> number) & 1U) != 0; };
      const SeccompSituation situation{bit(0), bit(1), bit(2), bit(3), bit(4), bit(5)};
      const auto compiled =
          compile_filter(seccomp_arch_native(), conditions_of(policy_named(name), situation));
      ASSERT_TRUE(compiled) << compiled.error().message();
      EXPECT_TRUE(std::ranges::equal(program_for(name, situation), *compiled,
                                     [](const auto& one, const auto& other) {
                                       return std::memcmp(&one, &other, sizeof one) == 0;
                                     }))
          << name << " situation " << bits;
    }
  }
}

TEST(SeccompPlan, IsAbsentWhenThePolicySaysSo) {
  Policy policy = policy_named("workspace-write");
  policy.seccomp = LayerMode::Off;
  EXPECT_FALSE(plan_seccomp(policy, kInside)->apply);
  EXPECT_FALSE(plan_seccomp(policy_named("unconfined"), kInside)->apply);
}

}  // namespace
}  // namespace bawn::sandbox
