// The filter for the architectures that libseccomp knows and whose byte order is this machine's,
// run by our own interpreter: what the table refuses always is refused there, and no second ABI of
// the machine leads past it.
#include "bpf_evaluator.hpp"
#include "samples.hpp"
#include "seccomp_rules.hpp"

#include <gmock/gmock.h>
#include <seccomp.h>

#include <linux/audit.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {
namespace {

using test::evaluate;
using test::policy_named;

struct Architecture {
  const char* name;
  std::uint32_t token;  ///< libseccomp's, which is the kernel's AUDIT_ARCH_* but for x32
};

void PrintTo(const Architecture& one, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << one.name;
}

constexpr Architecture kAll[] = {
    {"x86", SCMP_ARCH_X86},
    {"x86_64", SCMP_ARCH_X86_64},
    {"arm", SCMP_ARCH_ARM},
    {"aarch64", SCMP_ARCH_AARCH64},
    {"mips", SCMP_ARCH_MIPS},
    {"mips64", SCMP_ARCH_MIPS64},
    {"mips64n32", SCMP_ARCH_MIPS64N32},
    {"mipsel", SCMP_ARCH_MIPSEL},
    {"mipsel64", SCMP_ARCH_MIPSEL64},
    {"mipsel64n32", SCMP_ARCH_MIPSEL64N32},
    {"ppc", SCMP_ARCH_PPC},
    {"ppc64", SCMP_ARCH_PPC64},
    {"ppc64le", SCMP_ARCH_PPC64LE},
    {"s390", SCMP_ARCH_S390},
    {"s390x", SCMP_ARCH_S390X},
    {"parisc", SCMP_ARCH_PARISC},
    {"parisc64", SCMP_ARCH_PARISC64},
    {"riscv64", SCMP_ARCH_RISCV64},
};

/// AUDIT_ARCH_* says the byte order in a bit of its own.
bool is_foreign_order(std::uint32_t token) {
  return ((token & __AUDIT_ARCH_LE) == 0) == (std::endian::native == std::endian::little);
}

class SeccompArchitecture : public testing::TestWithParam<Architecture> {
 protected:
  void SetUp() override {
    if (is_foreign_order(GetParam().token)) {
      GTEST_SKIP() << "libseccomp 2.5 exports long programs in two byte orders at once when the "
                      "other machine's is another one; built there, the order is its own";
    }
    auto compiled = compile_filter(
        GetParam().token, conditions_of(policy_named("workspace-write"), {true, true, true, true}));
    ASSERT_TRUE(compiled) << compiled.error().message();
    program_ = *std::move(compiled);
  }

  [[nodiscard]] std::uint32_t answer(int number, std::uint32_t architecture,
                                     std::vector<std::uint64_t> arguments = {}) const {
    seccomp_data data{};
    data.nr = number;
    data.arch = architecture;
    std::ranges::copy(arguments, data.args);
    return evaluate(program_, data).value_or(0xbad);
  }
  [[nodiscard]] int number(const char* name) const {
    return seccomp_syscall_resolve_name_arch(GetParam().token, name);
  }

  std::vector<BpfInstruction> program_;
};

TEST_P(SeccompArchitecture, RefusesWhatIsAlwaysRefused) {
  int refused = 0;
  for (const SeccompRule& rule : seccomp_rules()) {
    const int known = number(rule.name);
    const bool native = GetParam().token == seccomp_arch_native();
    const int call = known == __NR_SCMP_ERROR && native ? rule.number : known;
    if (rule.when == When::Always && rule.tests.empty() && call >= 0) {
      EXPECT_EQ(answer(call, GetParam().token),
                SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(rule.error))
          << rule.name;
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

TEST_P(SeccompArchitecture, SeesTheFlagsOfCloneWhereTheyAre) {
  constexpr std::uint64_t kNewUser = 0x10000000;
  const bool second = std::string_view(GetParam().name).starts_with("s390");
  const std::vector<std::uint64_t> flags =
      second ? std::vector<std::uint64_t>{0, kNewUser} : std::vector<std::uint64_t>{kNewUser, 0};
  const std::vector<std::uint64_t> stack =
      second ? std::vector<std::uint64_t>{kNewUser, 0} : std::vector<std::uint64_t>{0, kNewUser};
  EXPECT_EQ(answer(number("clone"), GetParam().token, flags), SECCOMP_RET_ERRNO | EPERM);
  EXPECT_EQ(answer(number("clone"), GetParam().token, stack), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(number("unshare"), GetParam().token, {kNewUser}), SECCOMP_RET_ERRNO | EPERM);
}

TEST_P(SeccompArchitecture, LetsOrdinaryCallsThrough) {
  for (const char* name : {"read", "write", "openat", "execve", "ptrace", "futex", "openat2"}) {
    EXPECT_EQ(answer(number(name), GetParam().token), SECCOMP_RET_ALLOW) << name;
  }
}

TEST_P(SeccompArchitecture, ClosesEveryOtherAbi) {
  for (const Architecture& other : kAll) {
    if (other.token != GetParam().token) {
      EXPECT_EQ(answer(number("read"), other.token), SECCOMP_RET_KILL_PROCESS) << other.name;
    }
  }
  if (GetParam().token == SCMP_ARCH_X86_64) {
    EXPECT_EQ(answer(0x40000000, GetParam().token), SECCOMP_RET_ERRNO | ENOSYS) << "x32";
  }
}

INSTANTIATE_TEST_SUITE_P(Each, SeccompArchitecture, testing::ValuesIn(kAll),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(SeccompArchitectureTest, UnknownOnesAreRefused) {
  const auto none = compile_filter(0x1234, conditions_of(policy_named("workspace-write"), {}));
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().is(contract::ErrorCode::Unsupported));
}

}  // namespace
}  // namespace bawn::sandbox
