// `bawn-warden --probe`: tries each namespace for real, each in a process of its own that is thrown
// away, and says one line each: "user ok" or "user fail ERRNO STEP".
#include "warden.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

/// What a try says through its pipe.
struct Verdict {
  int errnum = 0;
  char step[16] = {};
};

struct Try {
  const char* name;
  unsigned long flags;
  bool mounts_proc;
  bool mounts_tmpfs;
};

// With a user namespace throughout: that is how sessions are made, by root too.
constexpr unsigned long kUser = CLONE_NEWUSER;
constexpr Try kTries[] = {
    {"user", kUser, false, false},
    {"mount", kUser | CLONE_NEWNS, false, false},
    {"pid", kUser | CLONE_NEWPID, false, false},
    {"net", kUser | CLONE_NEWNET, false, false},
    {"ipc", kUser | CLONE_NEWIPC, false, false},
    {"uts", kUser | CLONE_NEWUTS, false, false},
    {"proc", kUser | CLONE_NEWNS | CLONE_NEWPID, true, false},
    {"tmpfs", kUser | CLONE_NEWNS, false, true},
};

Verdict failed(const char* step, int errnum) noexcept {
  Verdict verdict;
  verdict.errnum = errnum;
  snprintf(verdict.step, sizeof verdict.step, "%s", step);
  return verdict;
}

/// Inside the new namespaces, identity mapped.
Verdict use(const Try& wanted) noexcept {
  if ((wanted.flags & CLONE_NEWNS) != 0) {
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return failed("private", errno);
    }
    const long tree = syscall(SYS_open_tree, AT_FDCWD, "/", 1U | 0x8000U | O_CLOEXEC);
    if (tree < 0) {
      return failed("open_tree", errno);
    }
    close(static_cast<int>(tree));
  }
  if (wanted.mounts_proc &&
      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return failed("mount", errno);
  }
  if (wanted.mounts_tmpfs &&
      mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "size=4k") != 0) {
    return failed("mount", errno);
  }
  if ((wanted.flags & CLONE_NEWNET) != 0) {
    const Failure failure = raise_loopback();
    if (failure.failed()) {
      return failed("loopback", failure.errnum);
    }
  }
  return {};
}

Verdict attempt(const Try& wanted) noexcept {
  int answer[2];
  int mapped[2];
  if (pipe2(answer, O_CLOEXEC) != 0 || pipe2(mapped, O_CLOEXEC) != 0) {
    return failed("pipe", errno);
  }
  const long pid = syscall(SYS_clone, wanted.flags | SIGCHLD, nullptr, nullptr, nullptr, 0L);
  if (pid == 0) {
    close(mapped[1]);
    char byte = 0;
    const bool go = read(mapped[0], &byte, 1) == 1;
    const Verdict verdict = go ? use(wanted) : failed("map", ECANCELED);
    (void)!write(answer[1], &verdict, sizeof verdict);
    _exit(0);
  }
  Verdict verdict = failed("clone", errno);
  close(answer[1]);
  close(mapped[0]);
  if (pid > 0) {
    const int errnum = write_identity_maps(geteuid() == 0, static_cast<pid_t>(pid));
    (void)!write(mapped[1], "", errnum == 0 ? 1 : 0);
    close(mapped[1]);
    if (read(answer[0], &verdict, sizeof verdict) != sizeof verdict) {
      verdict = failed("died", ECHILD);
    }
    verdict = errnum == 0 ? verdict : failed("map", errnum);
    waitpid(static_cast<pid_t>(pid), nullptr, 0);
  } else {
    close(mapped[1]);
  }
  close(answer[0]);
  return verdict;
}

pid_t fork_quietly() noexcept {
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0L));
}

/// One more Landlock layer around this process: it may not execute anything. Any right would do.
bool add_layer() noexcept {
  constexpr long kCreateRuleset = 444;
  constexpr long kRestrictSelf = 446;
  const std::uint64_t handled = 1;  // LANDLOCK_ACCESS_FS_EXECUTE
  const int ruleset = static_cast<int>(syscall(kCreateRuleset, &handled, sizeof handled, 0U));
  const bool added = ruleset >= 0 && syscall(kRestrictSelf, ruleset, 0U) == 0;
  const int errnum = errno;
  if (ruleset >= 0) {
    close(ruleset);
  }
  errno = errnum;
  return added;
}

/// A container's runtime may hold the one listener that a process can have.
int probe_listener() noexcept {
  static const sock_filter allow[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  PlanView plan;
  plan.listener_program = reinterpret_cast<const unsigned char*>(allow);
  plan.listener_length = 1;
  return try_listener(plan).errnum;
}

/// How many of the 16 Landlock layers that a process can have (E2BIG beyond) this one has already,
/// by taking the others in a process that ends at once; -1 when that cannot be told.
int probe_layers() noexcept {
  constexpr int kMostLayers = 16;
  int answer[2];
  if (pipe2(answer, O_CLOEXEC) != 0) {
    return -1;
  }
  const pid_t pid = fork_quietly();
  if (pid == 0) {
    int taken = 0;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    while (add_layer()) {
      ++taken;
    }
    taken = errno == E2BIG ? taken : -1;
    (void)!write(answer[1], &taken, sizeof taken);
    _exit(0);
  }
  close(answer[1]);
  int taken = -1;
  (void)!read(answer[0], &taken, sizeof taken);
  close(answer[0]);
  if (pid > 0) {
    waitpid(pid, nullptr, 0);
  }
  return taken < 0 ? -1 : kMostLayers - taken;
}

}  // namespace

int run_probe() noexcept {
  for (const Try& wanted : kTries) {
    const Verdict verdict = attempt(wanted);
    char line[64];
    const int length = verdict.step[0] == '\0'
                           ? snprintf(line, sizeof line, "%s ok\n", wanted.name)
                           : snprintf(line, sizeof line, "%s fail %d %s\n", wanted.name,
                                      verdict.errnum, verdict.step);
    if (write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) != length) {
      return 1;
    }
  }
  char line[64];
  const int layers = probe_layers();
  if (layers >= 0 && dprintf(STDOUT_FILENO, "layers %d\n", layers) < 0) {
    return 1;
  }
  const int errnum = probe_listener();
  const int length = errnum == 0
                         ? snprintf(line, sizeof line, "listener ok\n")
                         : snprintf(line, sizeof line, "listener fail %d seccomp\n", errnum);
  return write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) == length ? 0 : 1;
}

}  // namespace bawn::sandbox::warden
