#include "support/numbered_process.hpp"

#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace bawn::test {

std::optional<NumberedProcess> NumberedProcess::start(pid_t number) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uintptr_t>(&number);
  arguments.set_tid_size = 1;
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      ::pause();
    }
  }
  return pid > 0 ? std::optional(NumberedProcess(static_cast<pid_t>(pid))) : std::nullopt;
}

NumberedProcess::NumberedProcess(NumberedProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)) {}

NumberedProcess::~NumberedProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

bool NumberedProcess::runs() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
         info.si_pid == 0;
}

bool NumberedProcess::was_killed() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0 &&
         info.si_code == CLD_KILLED;
}

void await_later_tick(unsigned long long start_time) {
  const auto per_second = static_cast<unsigned long long>(::sysconf(_SC_CLK_TCK));
  timespec now{};
  do {
    ::clock_gettime(CLOCK_BOOTTIME, &now);
  } while (static_cast<unsigned long long>(now.tv_sec) * per_second +
               static_cast<unsigned long long>(now.tv_nsec) * per_second / 1'000'000'000U <=
           start_time);
}

}  // namespace bawn::test
