#include "agent.hpp"
#include "syscalls.hpp"

#include <linux/fs.h>
#include <sys/syscall.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

int change_mode(int file, const char* path, mode_t mode) noexcept {
  if (syscall(kFchmodat2, file, "", mode, AT_EMPTY_PATH) == 0) {
    return 0;
  }
  if (errno != ENOSYS) {
    return -1;
  }
  const Held readable(open_path(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, Access::Attributes));
  struct stat asked = {};
  struct stat found = {};
  if (!readable.is_open() || fstat(file, &asked) != 0 || fstat(readable.get(), &found) != 0) {
    return -1;
  }
  if (asked.st_dev != found.st_dev || asked.st_ino != found.st_ino) {
    errno = ESTALE;
    return -1;
  }
  return fchmod(readable.get(), mode);
}

}  // namespace

Problem remove_file(Request& request, Reply& /*reply*/) noexcept {
  const Condition condition = read_condition(request.in);
  Place place;
  Problem problem = find_name(request.in.text(), Reach::BelowAndAbove, place);
  problem = problem.failed() ? problem : check_condition(condition, place);
  if (!problem.failed() && unlinkat(place.parent.get(), place.name, 0) != 0) {
    problem = failed_call("unlinkat");
    problem.kind = problem.errnum == EISDIR ? FailureKind::Directory : problem.kind;
  }
  if (!problem.failed()) {
    (void)sync_directory(place.parent.get());
  }
  return problem;
}

Problem remove_directory(Request& request, Reply& /*reply*/) noexcept {
  Place place;
  const Problem problem = find_name(request.in.text(), Reach::Below, place);
  if (!problem.failed() && unlinkat(place.parent.get(), place.name, AT_REMOVEDIR) != 0) {
    return failed_call("unlinkat");
  }
  return problem;
}

Problem rename_file(Request& request, Reply& /*reply*/) noexcept {
  const Condition source = read_condition(request.in);
  const Condition condition = read_condition(request.in);
  const char* const from_path = request.in.text();
  const char* const to_path = request.in.text();
  Place from;
  Place to;
  Problem problem = find_name(from_path, Reach::BelowAndAbove, from);
  problem = problem.failed() ? problem : find_name(to_path, Reach::BelowAndAbove, to);
  problem = problem.failed() ? problem : check_condition(source, from);
  problem = problem.failed() ? problem : check_condition(condition, to);
  if (problem.failed()) {
    return problem;
  }
  const bool absent = condition.kind == file_wire::ConditionKind::Absent;
  if (syscall(SYS_renameat2, from.parent.get(), from.name, to.parent.get(), to.name,
              absent ? RENAME_NOREPLACE : 0U) != 0) {
    problem = failed_call("renameat2");
    problem.kind = absent && problem.errnum == EEXIST ? FailureKind::Exists : problem.kind;
    return problem;
  }
  // Two names of one file are two records of a journal: a lost power must not leave none of them.
  (void)sync_directory(to.parent.get());
  (void)sync_directory(from.parent.get());
  return problem;
}

Problem make_directory(Request& request, Reply& reply) noexcept {
  const mode_t bits = request.in.u32() & (0777U | S_ISVTX);
  const std::uint32_t flags = request.in.u32();
  const DirectoryMode mode{.mode = bits, .exact = (flags & file_wire::kExactMode) != 0};
  const char* const path = request.in.text();
  std::uint32_t made = 0;
  Problem problem;
  if ((flags & file_wire::kParents) != 0) {
    problem = make_directories(path, mode, made);
  } else {
    Place place;
    problem = find_name(path, Reach::Below, place);
    if (!problem.failed() && make_one(place.parent.get(), place.name, mode) != 0) {
      problem = failed_call("mkdirat");
      problem.kind = problem.errnum == EEXIST ? FailureKind::Exists : problem.kind;
    }
    made = 1;
  }
  reply.out.u32(made);
  return problem;
}

Problem set_mode(Request& request, Reply& reply) noexcept {
  const mode_t mode = request.in.u32() & 0777U;
  const char* const path = request.in.text();
  const Held file(open_path(path, O_PATH, Access::Attributes));
  if (!file.is_open()) {
    return failed_open();
  }
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) {
    return failed_call("fstat");
  }
  Problem problem = S_ISDIR(status.st_mode) ? Problem{} : require_regular(status);
  problem = problem.failed() ? problem : check_protected(file.get(), "", path, Reach::Below);
  if (!problem.failed() && change_mode(file.get(), path, mode) != 0) {
    problem = failed_call("fchmodat2");
  }
  if (!problem.failed() && fstat(file.get(), &status) != 0) {
    problem = failed_call("fstat");
  }
  put_status(reply.out, status);
  return problem;
}

}  // namespace bawn::sandbox::warden::agent
