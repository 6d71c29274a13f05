// The staged file gets its attributes and its name.
#include "agent.hpp"
#include "file_time.hpp"

#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

struct Order {
  std::uint32_t flags = 0;
  std::uint32_t mode = 0;
  std::int64_t mtime_ns = 0;
  Condition condition;
  const char* hidden = "";
  const char* target = "";
  [[nodiscard]] bool has(std::uint32_t flag) const noexcept { return (flags & flag) != 0; }
};

constexpr mode_t kBits = 0777;
constexpr mode_t kGroupBits = 0070;

Order read_order(wire::Reader& in) noexcept {
  Order order;
  order.flags = in.u32();
  order.mode = in.u32();
  order.mtime_ns = static_cast<std::int64_t>(in.u64());
  order.condition = read_condition(in);
  order.hidden = in.text();
  order.target = in.text();
  return order;
}

/// Owner and group of what is replaced, as far as this user may give them; false when not.
bool keep_owner(int file, const struct stat& own, const struct stat& old, mode_t& mode) noexcept {
  if (own.st_uid == old.st_uid && own.st_gid == old.st_gid) {
    return true;
  }
  if (fchown(file, old.st_uid, old.st_gid) == 0) {
    return true;
  }
  if (own.st_gid != old.st_gid && fchown(file, static_cast<uid_t>(-1), old.st_gid) != 0) {
    // What was allowed to one group must not be allowed to another one.
    mode = (mode & ~kGroupBits) | ((mode & 07U) << 3U);
  }
  return false;
}

Problem dress(int file, const Order& order, const Place& place, std::uint32_t& done) noexcept {
  struct stat own = {};
  if (fstat(file, &own) != 0) {
    return failed_call("fstat");
  }
  Problem problem = require_regular(own);
  if (problem.failed()) {
    return problem;
  }
  mode_t mode = place.present ? place.status.st_mode & kBits : 0666 & ~session_umask();
  mode = order.has(file_wire::kWithMode) ? order.mode & kBits : mode;
  if (!place.present || keep_owner(file, own, place.status, mode)) {
    done |= file_wire::kOwnerKept;
  }
  if (fchmod(file, mode) != 0) {
    return failed_call("fchmod");
  }
  if (order.has(file_wire::kWithTime) && set_last_change(file, order.mtime_ns) != 0) {
    return failed_call("futimens");
  }
  if (order.has(file_wire::kDurable)) {
    if (fsync(file) != 0) {
      return failed_call("fsync");
    }
    done |= file_wire::kSynced;
  }
  return {};
}

Problem exists_or(const char* call) noexcept {
  Problem problem = failed_call(call);
  if (problem.errnum == EEXIST) {
    problem.kind = FailureKind::Exists;
  }
  return problem;
}

/// Gives the file without a name one.
int link_file(int file, int parent, const char* name) noexcept {
  char path[40];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (linkat(AT_FDCWD, path, parent, name, AT_SYMLINK_FOLLOW) == 0) {
    return 0;
  }
  // Without /proc: Linux 6.10 lets the opener do it, before that only a privileged process.
  return errno == ENOENT ? linkat(file, "", parent, name, AT_EMPTY_PATH) : -1;
}

/// The hidden name still is this file.
bool is_hidden_file(int file, int parent, const char* hidden) noexcept {
  struct stat own = {};
  struct stat there = {};
  return fstat(file, &own) == 0 && fstatat(parent, hidden, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

/// Gives the name to the hidden file and the hidden name to the old one, if that still is the one
/// at `place`. False where the file system cannot do it.
bool exchange(const Order& order, const Place& place, Problem& problem) noexcept {
  const int parent = place.parent.get();
  const auto swap = [&] {
    return syscall(SYS_renameat2, parent, order.hidden, parent, place.name, RENAME_EXCHANGE) == 0;
  };
  if (!swap()) {
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) {
      return false;
    }
    problem = failed_call("renameat2");
    (void)unlinkat(parent, order.hidden, 0);
    return true;
  }
  struct stat old = {};
  const bool same = fstatat(parent, order.hidden, &old, AT_SYMLINK_NOFOLLOW) == 0 &&
                    old.st_dev == place.status.st_dev && old.st_ino == place.status.st_ino;
  if (!same && swap()) {
    (void)unlinkat(parent, order.hidden, 0);
    problem = {ESTALE, FailureKind::Changed, ""};
  }
  return true;
}

/// One step from the old content to the new one.
Problem put_in_place(int file, const Order& order, const Place& place,
                     std::uint32_t& done) noexcept {
  const int parent = place.parent.get();
  const bool absent = order.condition.kind == file_wire::ConditionKind::Absent;
  if (!order.has(file_wire::kIsNamed)) {
    if (!place.present && link_file(file, parent, place.name) == 0) {
      return {};
    }
    if (absent) {
      return exists_or("linkat");
    }
    if (link_file(file, parent, order.hidden) != 0) {
      return failed_call("linkat");
    }
  }
  if (!is_hidden_file(file, parent, order.hidden)) {
    return {ESTALE, FailureKind::Changed, ""};
  }
  if (Problem problem; order.has(file_wire::kKeepOld) && place.present &&
                       S_ISREG(place.status.st_mode) && exchange(order, place, problem)) {
    done |= problem.failed() ? 0U : file_wire::kOldKept;
    return problem;
  }
  const unsigned flags = absent ? RENAME_NOREPLACE : 0U;
  if (syscall(SYS_renameat2, parent, order.hidden, parent, place.name, flags) == 0) {
    return {};
  }
  const Problem problem = exists_or("renameat2");
  (void)unlinkat(parent, order.hidden, 0);
  return problem;
}

Problem perform(int file, const Order& order, Place& place, std::uint32_t& done) noexcept {
  Problem problem = find_place(order.target, Last::Keep, place);
  if (!problem.failed() && place.present && !S_ISLNK(place.status.st_mode)) {
    problem = require_regular(place.status);
  }
  if (!problem.failed()) {
    problem = check_protected(place.parent.get(), place.name, order.target, Reach::Below);
  }
  if (!problem.failed()) {
    problem = dress(file, order, place, done);
  }
  // As late as can be: fsync(2) above may have taken seconds.
  if (!problem.failed()) {
    problem = look_again(place);
  }
  if (!problem.failed()) {
    problem = check_condition(order.condition, place);
  }
  return problem.failed() ? problem : put_in_place(file, order, place, done);
}

/// After a failure no hidden name is left.
Problem commit(int file, const Order& order, Packer& out) noexcept {
  Place place;
  std::uint32_t done = 0;
  const Problem problem = perform(file, order, place, done);
  if (problem.failed()) {
    if (order.has(file_wire::kIsNamed) && place.parent.is_open() &&
        is_hidden_file(file, place.parent.get(), order.hidden)) {
      (void)unlinkat(place.parent.get(), order.hidden, 0);
    }
    return problem;
  }
  if ((done & file_wire::kSynced) != 0 && !sync_directory(place.parent.get())) {
    done &= ~file_wire::kSynced;
  }
  struct stat status = {};
  (void)fstat(file, &status);
  out.u32(done | (place.present ? file_wire::kReplaced : 0U));
  put_status(out, status);
  return {};
}

}  // namespace

Problem commit_file(Request& request, Reply& reply) noexcept {
  Order order = read_order(request.in);
  const int file = is_carried() ? held_file() : request.fd;
  if (!request.in.finished() || file < 0) {
    return {EPROTO};
  }
  if (is_carried() && held_is_named()) {
    order.flags |= file_wire::kIsNamed;
  }
  const Problem problem = commit(file, order, reply.out);
  forget_held();
  return problem;
}

}  // namespace bawn::sandbox::warden::agent
