// Whether a change would be refused, without making it.
#include "agent.hpp"

#include <linux/capability.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

/// Whether this process may do to other users' files what only their owners may.
bool overrules_owners() noexcept {
  __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  return syscall(SYS_capget, &head, sets) == 0 &&
         (sets[0].effective & (1U << static_cast<unsigned>(CAP_FOWNER))) != 0;
}

/// The directory takes new names: asked by a file that never gets one, so that the kernel answers
/// for permissions and mounts at once, and Landlock for the right to write (it does not look at the
/// rights to make and remove for such a file).
Problem may_enter_names(int directory) noexcept {
  const Held file(openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (file.is_open()) {
    return {};
  }
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL &&
      errno != ENOSYS) {
    return failed_call("openat");
  }
  return faccessat(directory, ".", W_OK | X_OK, 0) == 0 ? Problem{} : failed_call("faccessat");
}

/// What keeps a name in its place although its directory may be written to.
Problem may_take_name(const Place& place) noexcept {
  struct stat directory = {};
  if (fstat(place.parent.get(), &directory) != 0) {
    return failed_call("fstat");
  }
  const bool sticky = (directory.st_mode & S_ISVTX) != 0;
  if (sticky && geteuid() != place.status.st_uid && geteuid() != directory.st_uid &&
      !overrules_owners()) {
    return {EPERM, FailureKind::System, "renameat2"};
  }
  struct statx more = {};
  if (statx(place.parent.get(), place.name, AT_SYMLINK_NOFOLLOW, 0, &more) != 0) {
    return {};  // told by no kernel before 4.11
  }
  if ((more.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) {
    return {EBUSY, FailureKind::System, "renameat2"};
  }
  const bool fixed = (more.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
  return fixed ? Problem{EPERM, FailureKind::System, "renameat2"} : Problem{};
}

/// Finds the place of a name whose directories may be missing, and what protects it.
Problem find_future(const char* path, Last last, Reach reach, Place& place) noexcept {
  Problem problem = find_place(path, last, place);
  if (!problem.failed() || problem.errnum != ENOENT) {
    return problem.failed() ? problem
                            : check_protected(place.parent.get(), place.name, place.path, reach);
  }
  char directory[kMaxPath];
  strcpy(directory, place.path);
  *strrchr(directory, '/') = '\0';
  const char* rest = nullptr;
  const Problem way = open_nearest(directory, place.parent, rest);
  if (way.failed() || *rest == '\0') {
    return way.failed() ? way : problem;
  }
  return check_protected(place.parent.get(), place.path + (rest - directory), place.path, reach);
}

Problem try_name(file_wire::Op op, const char* path) noexcept {
  const bool writes = op == file_wire::Op::TryWrite;
  const Last last = writes ? Last::Follow : Last::Keep;
  const Reach reach = writes ? Reach::Below : Reach::BelowAndAbove;
  char trimmed[kMaxPath];
  trim(path, trimmed);
  Place place;
  Problem problem = find_future(last == Last::Keep ? trimmed : path, last, reach, place);
  const bool any = op == file_wire::Op::TryRename ||
                   (op == file_wire::Op::TryRemove && !S_ISDIR(place.status.st_mode));
  if (!problem.failed() && place.present && !any) {
    problem = require_regular(place.status);
  }
  problem = problem.failed() ? problem : may_enter_names(place.parent.get());
  return problem.failed() || !place.present ? problem : may_take_name(place);
}

Problem try_mode(const char* path) noexcept {
  const Held file(open_path(path, O_PATH, Access::Attributes));
  if (!file.is_open()) {
    return failed_open();
  }
  struct stat status = {};
  struct statvfs system = {};
  if (fstat(file.get(), &status) != 0 || fstatvfs(file.get(), &system) != 0) {
    return failed_call("fstat");
  }
  const Problem problem = check_protected(file.get(), "", path, Reach::Below);
  if (problem.failed()) {
    return problem;
  }
  if ((system.f_flag & ST_RDONLY) != 0) {
    return {EROFS, FailureKind::System, "fchmodat2"};
  }
  const bool owned = geteuid() == status.st_uid || overrules_owners();
  return owned ? Problem{} : Problem{EPERM, FailureKind::System, "fchmodat2"};
}

}  // namespace

Problem try_change(file_wire::Op op, Request& request, Reply& /*reply*/) noexcept {
  const char* const path = request.in.text();
  return op == file_wire::Op::TrySetMode ? try_mode(path) : try_name(op, path);
}

}  // namespace bawn::sandbox::warden::agent
