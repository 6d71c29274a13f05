// What a change took from its name and may have to give back: the very file, under a hidden name
// beside it.
#include "agent.hpp"

#include <linux/fs.h>
#include <sys/syscall.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

/// Both names are in one directory; the second one must be free when `free` says so.
int move(int parent, const char* from, const char* to, bool free) noexcept {
  return static_cast<int>(
      syscall(SYS_renameat2, parent, from, parent, to, free ? RENAME_NOREPLACE : 0U));
}

}  // namespace

Problem set_aside(Request& request, Reply& reply) noexcept {
  const Condition condition = read_condition(request.in);
  const char* const hidden = request.in.text();
  Place place;
  Problem problem = find_name(request.in.text(), Reach::BelowAndAbove, place);
  problem = problem.failed() ? problem : check_condition(condition, place);
  if (!problem.failed() && !place.present) {
    return {ENOENT, FailureKind::System, "renameat2"};
  }
  if (!problem.failed() && S_ISDIR(place.status.st_mode)) {
    problem = require_regular(place.status);
  }
  if (!problem.failed() && move(place.parent.get(), place.name, hidden, true) != 0) {
    problem = failed_call("renameat2");
  }
  if (!problem.failed()) {
    (void)sync_directory(place.parent.get());
    put_target(reply.out, place);
  }
  return problem;
}

Problem put_back(Request& request, Reply& /*reply*/) noexcept {
  const Condition condition = read_condition(request.in);
  const std::uint64_t device = request.in.u64();
  const std::uint64_t inode = request.in.u64();
  const char* const hidden = request.in.text();
  Place place;
  Problem problem = find_name(request.in.text(), Reach::BelowAndAbove, place);
  if (problem.failed()) {
    return problem;
  }
  struct stat kept = {};
  if (fstatat(place.parent.get(), hidden, &kept, AT_SYMLINK_NOFOLLOW) != 0) {
    return failed_call("fstatat");
  }
  if (kept.st_dev != device || kept.st_ino != inode) {
    return {ESTALE, FailureKind::Changed, ""};
  }
  problem = check_condition(condition, place);
  const bool absent = condition.kind == file_wire::ConditionKind::Absent;
  if (!problem.failed() && move(place.parent.get(), hidden, place.name, absent) != 0) {
    problem = failed_call("renameat2");
    problem.kind = absent && problem.errnum == EEXIST ? FailureKind::Exists : problem.kind;
  }
  if (!problem.failed()) {
    (void)sync_directory(place.parent.get());
  }
  return problem;
}

Problem discard_file(Request& request, Reply& /*reply*/) noexcept {
  const char* const hidden = request.in.text();
  const char* const neighbour = request.in.text();
  Place place;
  Problem problem = find_place(neighbour, Last::Keep, place);
  if (!problem.failed() && unlinkat(place.parent.get(), hidden, 0) != 0 && errno != ENOENT) {
    problem = failed_call("unlinkat");
  }
  return problem;
}

}  // namespace bawn::sandbox::warden::agent
