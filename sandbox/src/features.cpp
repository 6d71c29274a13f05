#include "bawn/sandbox/features.hpp"

#include "bawn/os/unique_fd.hpp"
#include "features_cgroup.hpp"
#include "features_probe.hpp"
#include "kernel_abi.hpp"
#include "small_file.hpp"

#include <fmt/format.h>

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace bawn::sandbox {
namespace {

Feature yes() {
  return {true, {}};
}
Feature no(std::string reason) {
  return {false, std::move(reason)};
}

/// Whether a seccomp filter around this program kills whoever asks for Landlock, instead of
/// refusing it. Found out in a process that is thrown away, and only where there is a filter.
bool is_landlock_deadly() {
  if (read_small_file("/proc/self/status").find("\nSeccomp:\t2") == std::string::npos) {
    return false;
  }
  const auto survived = ask_probe_program("--try-landlock");
  return survived && survived->empty();
}

void look_at_landlock(KernelFeatures& features) {
  if (is_landlock_deadly()) {
    features.landlock_reason = "a seccomp filter around this program kills for Landlock's calls";
    return;
  }
  constexpr unsigned int kCreateRulesetVersion = 1;
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0}, kCreateRulesetVersion);
  if (version > 0) {
    features.landlock_abi = static_cast<int>(version);
  } else if (errno == EOPNOTSUPP) {
    features.landlock_reason = "Landlock is built in but switched off at boot (lsm=)";
  } else if (errno == ENOSYS) {
    features.landlock_reason = "this kernel has no Landlock (Linux 5.13 has)";
  } else {
    features.landlock_reason = fmt::format("Landlock is refused: {}", std::strerror(errno));
  }
}

/// A sysctl's number; `absent` when there is no such file.
long read_number(const char* path, long absent) {
  const std::string text = read_small_file(path);
  long value = absent;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Why a supervisor could not take a child's socket to connect it; empty when it can.
std::string borrowing_blocker() {
  const long scope = read_number("/proc/sys/kernel/yama/ptrace_scope", 0);
  if (scope >= 3 || (scope == 2 && ::geteuid() != 0)) {
    return "Yama forbids to take a descriptor of another process (kernel.yama.ptrace_scope)";
  }
  const os::UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0U)));
  const os::UniqueFd borrowed(
      static_cast<int>(::syscall(SYS_pidfd_getfd, self.get(), self.get(), 0U)));
  return borrowed.is_open() ? std::string()
                            : fmt::format("a descriptor of another process cannot be taken: {}",
                                          std::strerror(errno));
}

void look_at_seccomp(KernelFeatures& features) {
  // EFAULT: the mode is known and only the missing program is wrong.
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0) == -1 && errno == EFAULT) {
    features.seccomp = yes();
  } else {
    features.seccomp = no("this kernel has no seccomp filters");
  }
  const std::string actions = read_small_file("/proc/sys/kernel/seccomp/actions_avail");
  features.seccomp_notify =
      actions.find("user_notif") != std::string::npos
          ? yes()
          : no("this kernel has no seccomp user notification (Linux 5.0 has)");
  if (const std::string blocker = borrowing_blocker(); !blocker.empty()) {
    features.seccomp_notify = no(blocker);
  }
}

/// Why a user namespace cannot be made or is of no use; empty when nothing speaks against it.
std::string namespace_blocker(bool is_root) {
  if (::access("/proc/self/ns/user", F_OK) != 0) {
    return "this kernel has no user namespaces, or /proc is not mounted";
  }
  if (read_number("/proc/sys/user/max_user_namespaces", 1) <= 0) {
    return "user namespaces are switched off (user.max_user_namespaces is 0)";
  }
  if (!is_root && read_number("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0) {
    return "user namespaces are for root only (kernel.unprivileged_userns_clone is 0)";
  }
  if (!is_root && read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) != 0) {
    return "AppArmor takes the rights inside a user namespace away "
           "(kernel.apparmor_restrict_unprivileged_userns is 1)";
  }
  return {};
}

void look_at_namespaces(KernelFeatures& features) {
  const std::string blocker = namespace_blocker(features.is_root);
  const auto kind = [&](Feature& feature, const char* file) {
    if (!blocker.empty()) {
      feature = no(blocker);
    } else if (::access(file, F_OK) != 0) {
      feature = no("this kernel has none");
    } else {
      feature = yes();
    }
  };
  kind(features.user_namespace, "/proc/self/ns/user");
  kind(features.mount_namespace, "/proc/self/ns/mnt");
  kind(features.pid_namespace, "/proc/self/ns/pid");
  kind(features.network_namespace, "/proc/self/ns/net");
  kind(features.ipc_namespace, "/proc/self/ns/ipc");
  kind(features.uts_namespace, "/proc/self/ns/uts");
}

}  // namespace

void take_away(KernelFeatures& features, std::string_view list) {
  const std::string reason = "taken away by BAWN_FEATURES_OFF";
  const auto named = [&](std::string_view word) {
    const std::string framed = fmt::format(",{},", list);
    return framed.find(fmt::format(",{},", word)) != std::string::npos;
  };
  if (named("landlock")) {
    features.landlock_abi = 0;
    features.landlock_reason = reason;
  }
  if (named("seccomp")) {
    features.seccomp = features.seccomp_notify = no(reason);
  }
  if (named("cgroup")) {
    features.cgroup_v2 = no(reason);
    features.cgroup_controllers.clear();
  }
  if (named("namespaces")) {
    for (Feature* feature :
         {&features.user_namespace, &features.mount_namespace, &features.pid_namespace,
          &features.network_namespace, &features.ipc_namespace, &features.uts_namespace}) {
      *feature = no(reason);
    }
  }
}

KernelFeatures assume_features() {
  KernelFeatures features;
  features.is_root = ::geteuid() == 0;
  utsname names{};
  if (::uname(&names) == 0) {
    features.kernel = names.release;
    features.machine = names.machine;
  }
  look_at_landlock(features);
  look_at_seccomp(features);
  look_at_namespaces(features);
  look_at_cgroup({}, features);
  features.audit = no("not asked about, since it takes a while");
  features.yama_restricted = read_number("/proc/sys/kernel/yama/ptrace_scope", 0) >= 2;
  if (const char* off = std::getenv("BAWN_FEATURES_OFF"); off != nullptr) {
    take_away(features, off);
  }
  return features;
}

}  // namespace bawn::sandbox
