#include "run_wait.hpp"

#include "commands.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace bawn::cli {
namespace {

using contract::Error;
using contract::Result;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGrace{2000};

/// When the command must be told to end, and then when it must be ended.
class EndPlan {
 public:
  explicit EndPlan(std::optional<std::chrono::milliseconds> timeout) {
    if (timeout) {
      next_ = Clock::now() + *timeout;
    }
  }

  /// Milliseconds until the next step for poll(2); -1 for never.
  [[nodiscard]] int poll_timeout() const {
    if (next_ == kNever) {
      return -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
  }

  /// The signal that is due now, moving on to the next step.
  std::optional<int> due() {
    if (Clock::now() < next_) {
      return std::nullopt;
    }
    if (!expired_) {
      expired_ = true;
      next_ = Clock::now() + kGrace;
      return SIGTERM;
    }
    next_ = kNever;
    return SIGKILL;
  }

  [[nodiscard]] bool expired() const { return expired_; }

 private:
  static constexpr Clock::time_point kNever = Clock::time_point::max();
  Clock::time_point next_ = kNever;
  bool expired_ = false;
};

Result<> send_inside(sandbox::Warden& warden, int signal) {
  auto sent = warden.signal(sandbox::SignalTarget(), signal);
  if (!sent) {
    return std::unexpected(sent.error());
  }
  return {};
}

void explain_exec_failure(const sandbox::ExitStatus& status, const std::string& program) {
  if (status.exec_errno != 0) {
    std::fprintf(stderr, "bawn: cannot start %s: %s\n", program.c_str(),
                 std::strerror(status.exec_errno));  // NOLINT(concurrency-mt-unsafe): one thread
  }
}

}  // namespace

Result<RunSignals> RunSignals::block() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    sigaddset(&set, signal);
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  RunSignals signals;
  signals.fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.fd_.is_open()) {
    return std::unexpected(Error::from_errno(errno, "signalfd", "cannot receive signals"));
  }
  return signals;
}

std::optional<int> RunSignals::next() const {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) {
    return std::nullopt;
  }
  return static_cast<int>(info.ssi_signo);
}

Result<int> wait_for(sandbox::Child& child, sandbox::Warden& warden, const RunSignals& signals,
                     std::optional<std::chrono::milliseconds> timeout, const std::string& program) {
  EndPlan plan(timeout);
  std::array<pollfd, 2> watched{{{.fd = child.exit_event(), .events = POLLIN, .revents = 0},
                                 {.fd = signals.fd(), .events = POLLIN, .revents = 0}}};
  for (;;) {
    if (const auto status = child.status()) {
      explain_exec_failure(*status, program);
      return plan.expired() ? kTimedOut : status->shell_code();
    }
    if (::poll(watched.data(), watched.size(), plan.poll_timeout()) < 0 && errno != EINTR) {
      return std::unexpected(Error::from_errno(errno, "poll", "cannot wait for the command"));
    }
    while (const auto signal = signals.next()) {
      BAWN_TRY(send_inside(warden, *signal));
    }
    if (const auto signal = plan.due()) {
      BAWN_TRY(send_inside(warden, *signal));
    }
    if (!child.status() && !warden.alive()) {
      return contract::fail(contract::ErrorCode::Closed, "the session's warden is gone");
    }
  }
}

}  // namespace bawn::cli
