// The stub: the server's direct child. It makes the namespaces with the warden in them, writes the
// identity maps from outside, and then only waits: its death is the warden's and the other way
// round.
#include "procfs.hpp"
#include "warden.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

int write_file(const char* path, const char* text, std::size_t length) noexcept {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  const ssize_t written = write(fd, text, length);
  const int errnum = written < 0 ? errno : 0;
  close(fd);
  return errnum;
}

int write_map(pid_t pid, const char* file, const char* format, unsigned id) noexcept {
  char path[64];
  char text[64];
  snprintf(path, sizeof path, "/proc/%d/%s", static_cast<int>(pid), file);
  const int length = snprintf(text, sizeof text, format, id, id);
  return write_file(path, text, static_cast<std::size_t>(length));
}

/// Without CLONE_VM this is a fork that the C library does not know of: fine, since the child calls
/// nothing that depends on its cached state, and the caller has one thread. To be born in a cgroup
/// costs nothing; to be moved into one would stop every fork on the machine for milliseconds.
long clone_warden(const PlanView& plan) noexcept {
  if (plan.cgroup_fd < 0) {
    return syscall(SYS_clone, plan.clone_flags | SIGCHLD, nullptr, nullptr, nullptr, 0L);
  }
  clone_args arguments = {};
  arguments.flags = plan.clone_flags | CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<unsigned>(plan.cgroup_fd);
  return syscall(SYS_clone3, &arguments, sizeof arguments);
}

/// posix_spawn(3) did this for the program; a fork of the server has its handlers.
void reset_signals() noexcept {
  for (int number = 1; number < NSIG; ++number) {
    signal(number, SIG_DFL);
  }
}

/// Kills what was reparented to the stub (a subreaper) until it has no child left. Numbers are safe
/// here: nobody but the stub reaps its children.
void kill_leftovers() noexcept {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", static_cast<int>(getpid()));
  for (;;) {
    char text[4096];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    drop_cut_word(text, static_cast<std::size_t>(length > 0 ? length : 0), sizeof text);
    char* save = nullptr;
    for (char* word = strtok_r(text, " \n", &save); word != nullptr;
         word = strtok_r(nullptr, " \n", &save)) {
      int pid = 0;
      if (sscanf(word, "%d", &pid) == 1 && pid > 1) {
        kill(pid, SIGKILL);
      }
    }
    if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) {
      return;
    }
  }
}

}  // namespace

int write_identity_maps(bool full, pid_t pid) noexcept {
  int errnum = 0;
  if (full) {
    // As /proc/self/uid_map of the initial namespace has it; needs CAP_SETUID and CAP_SETGID
    // outside.
    errnum = write_map(pid, "uid_map", "0 0 4294967295", 0);
    return errnum != 0 ? errnum : write_map(pid, "gid_map", "0 0 4294967295", 0);
  }
  // Without privilege the kernel takes a single map of the writer's own ids, and a gid only once
  // setgroups(2) is off for good (Linux 3.19).
  errnum = write_map(pid, "setgroups", "deny", 0);
  errnum = errnum != 0 ? errnum : write_map(pid, "uid_map", "%u %u 1", geteuid());
  return errnum != 0 ? errnum : write_map(pid, "gid_map", "%u %u 1", getegid());
}

Failure start_warden(const PlanView& plan, int stream_fd, pid_t& pid, int& life_fd) {
  int life[2];
  if (pipe2(life, O_CLOEXEC) != 0) {
    return {Step::Descriptors, errno, 0};
  }
  const long result = clone_warden(plan);
  if (result == 0) {
    close(life[1]);
    if (plan.has(wire::kForkedWarden)) {
      reset_signals();
    }
    run_warden(plan, stream_fd, life[0]);
  }
  const int clone_errno = errno;
  close(life[0]);
  if (result < 0) {
    close(life[1]);
    return {Step::Clone, clone_errno, 0};
  }
  pid = static_cast<pid_t>(result);
  life_fd = life[1];
  if ((plan.clone_flags & CLONE_NEWUSER) != 0) {
    if (const int errnum = write_identity_maps(plan.has(wire::kFullIdentityMap), pid);
        errnum != 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
      return {Step::IdentityMap, errnum, 0};
    }
  }
  const auto number = static_cast<std::int32_t>(pid);
  (void)!write(life_fd, &number, sizeof number);
  return {};
}

void begin_stub(int plan_fd, int stream_fd, PlanView& plan) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!map_plan(plan_fd, plan)) {
    send_failure(stream_fd, {Step::Plan, EPROTO, 0});
    _exit(1);
  }
  if (getppid() != plan.server_pid) {
    _exit(1);  // the server died before the death signal was set
  }
  if ((plan.clone_flags & CLONE_NEWPID) == 0) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a killed warden leaves comes here
  }
}

void end_stub(const PlanView& plan, pid_t warden) noexcept {
  while (waitpid(warden, nullptr, 0) < 0 && errno == EINTR) {
  }
  if ((plan.clone_flags & CLONE_NEWPID) == 0) {
    kill_leftovers();
  }
}

void run_stub(int plan_fd, int stream_fd) {
  PlanView plan;
  begin_stub(plan_fd, stream_fd, plan);
  plan.cgroup_fd = plan.has(wire::kCgroup) ? wire::kCgroupFd : -1;
  pid_t pid = 0;
  int life_fd = -1;
  const Failure failure = start_warden(plan, stream_fd, pid, life_fd);
  if (failure.failed()) {
    send_failure(stream_fd, failure);
    _exit(1);
  }
  // Where there is no PID namespace, what runs inside sees the stub and may be of its user.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  (void)!chdir("/");  // not to hold the server's directory in place
  // The stream's end must mean that the warden is gone.
  close(stream_fd);
  close(plan_fd);
  if (plan.cgroup_fd >= 0) {
    close(plan.cgroup_fd);
  }
  end_stub(plan, pid);
  _exit(0);
}

}  // namespace bawn::sandbox::warden
