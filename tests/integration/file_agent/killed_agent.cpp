#include "killed_agent.hpp"

#include "bawn/os/procfs.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

namespace bawn::test {

namespace {

/// Stops it where it waits for a request: none of its steps is missed.
bool seize(int agent) {
  int status = 0;
  const bool seized = ::ptrace(PTRACE_SEIZE, agent, 0, PTRACE_O_TRACESYSGOOD) == 0 &&
                      ::ptrace(PTRACE_INTERRUPT, agent, 0, 0) == 0 &&
                      ::waitpid(agent, &status, __WALL) == agent && WIFSTOPPED(status);
  EXPECT_TRUE(seized) << "cannot trace the agent: errno " << errno;
  return seized;
}

/// Follows it to its end and kills it on the way; true when that was here.
bool follow(int agent, int at) {
  bool killed = false;
  for (int entered = 0;;) {
    (void)::ptrace(PTRACE_SYSCALL, agent, 0, 0);
    int status = 0;
    if (::waitpid(agent, &status, __WALL) != agent || !WIFSTOPPED(status)) {
      return killed;
    }
    __ptrace_syscall_info info{};
    if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
        ::ptrace(PTRACE_GET_SYSCALL_INFO, agent, sizeof info, &info) > 0 &&
        info.op == PTRACE_SYSCALL_INFO_ENTRY && entered++ == at) {
      killed = true;
      (void)::kill(agent, SIGKILL);
    }
  }
}

}  // namespace

bool run_and_kill(int agent, int at, const std::function<void()>& action) {
  if (!seize(agent)) {
    return false;
  }
  std::thread acting([&] {
    action();
    (void)::kill(agent, SIGKILL);  // ends follow(); not reaped before, so it is still this one
  });
  const bool killed = follow(agent, at);
  acting.join();
  return killed;
}

int newest_agent(int warden) {
  const std::vector<int> agents = os::children(warden);
  EXPECT_FALSE(agents.empty()) << "the warden has no agent";
  return agents.empty() ? -1 : agents.back();
}

}  // namespace bawn::test
