#include "bawn/os/unique_fd.hpp"
#include "seccomp_rules.hpp"

#include <fmt/format.h>
#include <seccomp.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace bawn::sandbox {
namespace {

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

scmp_arg_cmp compile_test(const ArgTest& test) {
  scmp_arg_cmp compare{};
  compare.arg = test.index;
  compare.datum_a = test.value;
  switch (test.kind) {
    case ArgTest::Kind::Equal:
      compare.op = SCMP_CMP_EQ;
      break;
    case ArgTest::Kind::NotEqual:
      compare.op = SCMP_CMP_NE;
      break;
    case ArgTest::Kind::Greater:
      compare.op = SCMP_CMP_GT;
      break;
    case ArgTest::Kind::MaskedEqual:
      compare.op = SCMP_CMP_MASKED_EQ;
      compare.datum_a = test.mask;
      compare.datum_b = test.value;
      break;
  }
  return compare;
}

/// What libseccomp adds rules by: the number on the machine that this runs on, which it translates,
/// or a negative one when no machine has such a call.
int number_of(const SeccompRule& rule) {
  const int number = seccomp_syscall_resolve_name(rule.name);
  return number != __NR_SCMP_ERROR ? number : rule.number;
}

/// clone(2)'s flags are its second argument on s390.
bool takes_flags_second(std::uint32_t architecture, const SeccompRule& rule) {
  return (architecture == SCMP_ARCH_S390 || architecture == SCMP_ARCH_S390X) &&
         std::string_view(rule.name) == "clone";
}

Result<> add_rule(const Filter& filter, std::uint32_t architecture, const SeccompRule& rule) {
  const int number = number_of(rule);
  // A number without a name is taken for the own machine only: for others there is nothing to
  // translate it by.
  const bool nameless = seccomp_syscall_resolve_name(rule.name) == __NR_SCMP_ERROR;
  if (number == __NR_SCMP_ERROR || (nameless && architecture != seccomp_arch_native())) {
    return {};
  }
  std::vector<scmp_arg_cmp> tests;
  tests.reserve(rule.tests.size());
  for (const ArgTest& test : rule.tests) {
    tests.push_back(compile_test(test));
    tests.back().arg += takes_flags_second(architecture, rule) ? 1U : 0U;
  }
  const int error =
      seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(static_cast<unsigned int>(rule.error)),
                             number, static_cast<unsigned int>(tests.size()), tests.data());
  if (error != 0) {
    return contract::fail(ErrorCode::Internal,
                          fmt::format("seccomp rule for {}: {}", rule.name, std::strerror(-error)));
  }
  return {};
}

/// libseccomp 2.5 exports to a descriptor only.
Result<std::vector<BpfInstruction>> export_program(const Filter& filter) {
  const os::UniqueFd file(::memfd_create("bawn-filter", MFD_CLOEXEC));
  if (!file.is_open()) {
    return std::unexpected(Error::from_errno(errno, "memfd_create", "cannot compile the filter"));
  }
  if (const int error = seccomp_export_bpf(filter.get(), file.get()); error != 0) {
    return std::unexpected(
        Error::from_errno(-error, "seccomp_export_bpf", "cannot compile the filter"));
  }
  static_assert(sizeof(BpfInstruction) == sizeof(sock_filter));
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size < 0) {
    return std::unexpected(Error::from_errno(errno, "lseek", "cannot read the compiled filter"));
  }
  std::vector<BpfInstruction> program(static_cast<std::size_t>(size) / sizeof(BpfInstruction));
  if (::pread(file.get(), program.data(), static_cast<std::size_t>(size), 0) != size) {
    return std::unexpected(Error::from_errno(errno, "pread", "cannot read the compiled filter"));
  }
  return program;
}

/// x32 calls share the machine's architecture number and are told apart by bit 30 of the call's
/// number only. They get ENOSYS, as from a kernel without them; libseccomp alone would kill.
std::vector<BpfInstruction> answer_x32(const std::vector<BpfInstruction>& program) {
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  std::vector<BpfInstruction> whole = {
      {kLoad, 0, 0, offsetof(seccomp_data, arch)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 4, AUDIT_ARCH_X86_64},
      {kLoad, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JGE | BPF_K, 0, 2, 0x40000000},
      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0xffffffff},  // a tracer's "skip this call"
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
  };
  whole.insert(whole.end(), program.begin(), program.end());
  return whole;
}

/// A filter for that architecture alone.
Result<Filter> make_filter(std::uint32_t architecture) {
  Filter filter(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  int error = filter ? 0 : -EINVAL;
  // In this order: one filter holds architectures of one byte order only.
  if (error == 0 && architecture != seccomp_arch_native()) {
    error = seccomp_arch_remove(filter.get(), SCMP_ARCH_NATIVE);
    error = error != 0 ? error : seccomp_arch_add(filter.get(), architecture);
  }
  // A foreign architecture's calls have other numbers: the filter could not tell them apart. Level
  // 2 makes a balanced tree of the calls.
  for (const auto& [attribute, value] : {std::pair{SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS},
                                         std::pair{SCMP_FLTATR_CTL_OPTIMIZE, 2U}}) {
    error = error != 0 ? error : seccomp_attr_set(filter.get(), attribute, value);
  }
  if (error != 0) {
    return contract::fail(ErrorCode::Unsupported,
                          fmt::format("seccomp filters cannot be compiled for this machine: {}",
                                      std::strerror(-error)));
  }
  return filter;
}

}  // namespace

Result<std::vector<BpfInstruction>> compile_filter(std::uint32_t architecture,
                                                   std::uint32_t conditions) {
  // What is compiled must not depend on the kernel of the machine that compiles: 3 has all actions
  // that are used here.
  seccomp_api_set(3);
  const Filter filter = BAWN_TRY(make_filter(architecture));
  for (const SeccompRule& rule : seccomp_rules()) {
    if (applies(rule, conditions)) {
      BAWN_TRY(add_rule(filter, architecture, rule));
    }
  }
  auto program = BAWN_TRY(export_program(filter));
  return architecture == SCMP_ARCH_X86_64 ? answer_x32(program) : std::move(program);
}

}  // namespace bawn::sandbox
