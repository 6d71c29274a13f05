// Landlock and seccomp: the two layers that the kernel keeps for every descendant.
#include "warden.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

// Debian 12's linux/landlock.h stops at ABI 3.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr int kRulePathBeneath = 1;
constexpr std::uint64_t kScopeSignal = 2;
constexpr std::uint64_t kRefer = 1U << 13U;
/// Rights that exist on a file: execute, write, read, truncate, ioctl.
constexpr std::uint64_t kFileRights = 0x1U | 0x2U | 0x4U | (1U << 14U) | (1U << 15U);

struct RulesetAttributes {
  std::uint64_t fs = 0;
  std::uint64_t net = 0;     // ABI 4
  std::uint64_t scoped = 0;  // ABI 6
};

struct [[gnu::packed]] PathBeneath {
  std::uint64_t access;
  std::int32_t fd;
};

std::size_t attribute_size(std::uint32_t abi) noexcept {
  return abi < 4 ? 8 : abi < 6 ? 16 : sizeof(RulesetAttributes);
}

/// Adds one rule; a path that is not there grants nothing and is counted, one that cannot be opened
/// grants nothing and is named.
Failure add_rule(int ruleset, const char* path, std::uint64_t access, std::uint32_t index,
                 Confirmed& confirmed) noexcept {
  const int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      ++confirmed.skipped_rules;
    } else {
      confirmed.add_missing(Step::LandlockRule, errno, index);
    }
    return {};
  }
  struct stat status = {};
  Failure failure;
  if (fstat(fd, &status) != 0) {
    failure = {Step::LandlockRule, errno, index};
  } else {
    PathBeneath rule = {S_ISDIR(status.st_mode) ? access : access & kFileRights, fd};
    if (rule.access != 0 && syscall(kAddRule, ruleset, kRulePathBeneath, &rule, 0U) != 0) {
      failure = {Step::LandlockRule, errno, index};
    }
  }
  close(fd);
  return failure;
}

/// Rights that change something, by the ABI that brought them.
std::uint64_t write_rights(std::uint32_t abi) noexcept {
  constexpr std::uint64_t kWriteFile = 1U << 1U;
  constexpr std::uint64_t kRemoveAndMake = 0x1FF0U;  // REMOVE_DIR (bit 4) to MAKE_SYM (bit 12)
  constexpr std::uint64_t kTruncate = 1U << 14U;
  return kWriteFile | kRemoveAndMake | (abi >= 2 ? kRefer : 0U) | (abi >= 3 ? kTruncate : 0U);
}

}  // namespace

int make_read_only_ruleset(std::uint32_t abi, std::uint32_t count, wire::Reader paths) noexcept {
  constexpr std::uint64_t kTcp = 3;  // bind and connect
  if (abi == 0) {
    return -EOPNOTSUPP;
  }
  const std::uint64_t rights = write_rights(abi);
  const RulesetAttributes attributes = {rights, abi >= 4 ? kTcp : 0, 0};
  const int ruleset =
      static_cast<int>(syscall(kCreateRuleset, &attributes, attribute_size(abi), 0U));
  if (ruleset < 0) {
    return -errno;
  }
  Confirmed unused;
  for (std::uint32_t at = 0; at < count; ++at) {
    const Failure failure = add_rule(ruleset, paths.text(), rights, at, unused);
    if (failure.failed()) {
      close(ruleset);
      return -failure.errnum;
    }
  }
  return ruleset;
}

int make_scope_ruleset() noexcept {
  // Every layer takes the right to move and link between directories away unless it grants it
  // (LANDLOCK_ACCESS_FS_REFER), so the scope alone would break `mv` across directories.
  const RulesetAttributes attributes = {kRefer, 0, kScopeSignal};
  const int ruleset = static_cast<int>(syscall(kCreateRuleset, &attributes, sizeof attributes, 0U));
  const int root = open("/", O_PATH | O_CLOEXEC);
  const PathBeneath rule = {kRefer, root};
  const bool done = ruleset >= 0 && syscall(kAddRule, ruleset, kRulePathBeneath, &rule, 0U) == 0;
  close(root);
  if (!done) {
    close(ruleset);
    return -1;
  }
  return ruleset;
}

Failure apply_landlock(const PlanView& plan, Confirmed& confirmed) noexcept {
  const PlanView::Landlock& wanted = plan.landlock;
  if (wanted.abi == 0) {
    return {};
  }
  const RulesetAttributes attributes = {wanted.handled_fs, wanted.handled_net, wanted.scoped};
  const int ruleset =
      static_cast<int>(syscall(kCreateRuleset, &attributes, attribute_size(wanted.abi), 0U));
  if (ruleset < 0) {
    return {Step::LandlockRuleset, errno, 0};
  }
  wire::Reader rules = wanted.rules;
  for (std::uint32_t at = 0; at < wanted.count; ++at) {
    const std::uint64_t access = rules.u64();
    const char* const path = rules.text();
    const Failure failure = add_rule(ruleset, path, access, at, confirmed);
    if (failure.failed()) {
      close(ruleset);
      return failure;
    }
  }
  const long result = syscall(kRestrictSelf, ruleset, wanted.restrict_flags);
  const int errnum = errno;
  close(ruleset);
  return result == 0 ? Failure{} : Failure{Step::LandlockRestrict, errnum, 0};
}

Failure apply_filter(const PlanView& plan) noexcept {
  if (!plan.has(wire::kSeccomp)) {
    return {};
  }
  const sock_fprog program = {
      static_cast<unsigned short>(plan.filter_length),
      reinterpret_cast<sock_filter*>(const_cast<unsigned char*>(plan.filter))};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0U, &program) == 0
             ? Failure{}
             : Failure{Step::Seccomp, errno, 0};
}

}  // namespace bawn::sandbox::warden
