// Who the session is: ids, capabilities, resource limits. Order matters: groups and the bounding
// set need capabilities that the user id takes away.
#include "warden.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

Failure empty_bounding_set() noexcept {
  int capability = 0;
  while (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) {
    ++capability;
  }
  // EINVAL: behind the last one that this kernel knows.
  return errno == EINVAL && capability > 0
             ? Failure{}
             : Failure{Step::BoundingSet, errno, static_cast<std::uint32_t>(capability)};
}

/// A container's engine may have emptied it.
bool bounding_set_is_empty() noexcept {
  int capability = 0;
  int present = 0;
  while ((present = prctl(PR_CAPBSET_READ, capability, 0, 0, 0)) == 0) {
    ++capability;
  }
  return present < 0 && capability > 0;
}

bool has_capability(unsigned capability) noexcept {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return syscall(SYS_capget, &header, data) == 0 &&
         (data[capability / 32].effective & (1U << (capability % 32))) != 0;
}

Failure drop_capabilities() noexcept {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return syscall(SYS_capset, &header, none) == 0 ? Failure{}
                                                 : Failure{Step::Capabilities, errno, 0};
}

/// In a user namespace that an ordinary user made setgroups(2) is off for good, whatever the
/// capability (Linux 3.19): rootless engines without a range of ids give such containers.
bool groups_cannot_change() noexcept {
  char word[5] = {};
  const int file = open("/proc/self/setgroups", O_RDONLY | O_CLOEXEC);
  const ssize_t count = file >= 0 ? read(file, word, 4) : -1;
  close(file);
  return count == 4 && strcmp(word, "deny") == 0;
}

Failure switch_ids(const PlanView& plan) noexcept {
  uid_t ids[3];
  if (getresuid(&ids[0], &ids[1], &ids[2]) != 0) {
    return {Step::UserId, errno, 0};
  }
  // A single map (an ordinary user) has setgroups(2) switched off and only the one id.
  if (has_capability(CAP_SETGID) && (plan.clone_flags & CLONE_NEWUSER) != 0
          ? plan.has(wire::kFullIdentityMap)
          : has_capability(CAP_SETGID)) {
    if (setgroups(0, nullptr) != 0) {
      const int errnum = errno;
      if (errnum != EPERM || !groups_cannot_change()) {
        return {Step::Groups, errnum, 0};
      }
    }
  }
  if (setresgid(plan.gid, plan.gid, plan.gid) != 0) {
    return {Step::GroupId, errno, plan.gid};
  }
  if (setresuid(plan.uid, plan.uid, plan.uid) != 0) {
    return {Step::UserId, errno, plan.uid};
  }
  return {};
}

}  // namespace

Failure apply_identity(const PlanView& plan, Confirmed& confirmed) noexcept {
  if (plan.has(wire::kDropCapabilities)) {
    // PR_CAPBSET_DROP needs CAP_SETPCAP, which an ordinary user outside a namespace has not. What
    // the set still allows there, no_new_privs holds too; the report names it all the same.
    if (!has_capability(CAP_SETPCAP)) {
      if (!bounding_set_is_empty()) {
        confirmed.add_missing(Step::BoundingSet, EPERM, 0);
      }
    } else if (const Failure failure = empty_bounding_set(); failure.failed()) {
      return failure;
    }
  }
  const Failure failure = switch_ids(plan);
  if (failure.failed() || !plan.has(wire::kDropCapabilities)) {
    return failure;
  }
  return drop_capabilities();
}

Failure apply_rlimits(const PlanView& plan) noexcept {
  wire::Reader limits = plan.rlimits;
  for (std::uint32_t at = 0; at < plan.rlimit_count; ++at) {
    const auto resource = static_cast<__rlimit_resource>(limits.i32());
    rlimit wanted = {};
    wanted.rlim_cur = limits.u64();
    wanted.rlim_max = limits.u64();
    rlimit now = {};
    if (getrlimit(resource, &now) != 0) {
      return {Step::Rlimit, errno, static_cast<std::uint32_t>(resource)};
    }
    // Never above what is inherited: raising a hard limit needs CAP_SYS_RESOURCE.
    wanted.rlim_max = wanted.rlim_max < now.rlim_max ? wanted.rlim_max : now.rlim_max;
    wanted.rlim_cur = wanted.rlim_cur < wanted.rlim_max ? wanted.rlim_cur : wanted.rlim_max;
    if (resource == RLIMIT_NOFILE || resource == RLIMIT_NPROC || resource == RLIMIT_CPU) {
      // These would also starve the warden itself, which must still start a `kill` when the session
      // is at its limits.
      note_child_rlimit(resource, wanted.rlim_cur, wanted.rlim_max);
    } else if (setrlimit(resource, &wanted) != 0) {
      return {Step::Rlimit, errno, static_cast<std::uint32_t>(resource)};
    }
  }
  return {};
}

}  // namespace bawn::sandbox::warden
