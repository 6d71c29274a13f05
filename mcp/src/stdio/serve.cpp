#include "stdio/serve.hpp"

#include "bawn/mcp/stdio.hpp"
#include "stdio/event_loop.hpp"
#include "stdio/streams.hpp"
#include "unique_fd.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

namespace bawn::mcp {
namespace {

using Clock = std::chrono::steady_clock;
using contract::Error;
using contract::Result;

/// A pidfd of the parent. None when the parent is in another PID namespace (0) or the kernel gives
/// none: the end of the pipes has to do then.
UniqueFd watch_parent() {
  const pid_t parent = ::getppid();
  if (parent <= 0) {
    return {};
  }
  // glibc 2.36 has a wrapper, older ones do not.
  UniqueFd watched(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
  // It may have ended, and its number been taken, between the two calls: then we have a new parent.
  return ::getppid() == parent ? std::move(watched) : UniqueFd();
}

/// Watches over one event loop from outside and ends it in an orderly way.
class Supervisor {
 public:
  Supervisor(EventLoop& loop, const EndingWord& word, const UniqueFd& parent)
      : loop_(loop), word_(word), parent_(parent) {}

  StdioEndCause wait_for_cause() {
    while (true) {
      if (const auto cause = poll_once(std::nullopt)) {
        return *cause;
      }
    }
  }

  /// Until all is answered, the time is over, or a (further) word to end comes.
  void drain(std::chrono::milliseconds grace) {
    const auto deadline = Clock::now() + grace;
    while (!loop_.drained() && Clock::now() < deadline) {
      if (poll_once(deadline) == StdioEndCause::Signal) {
        return;
      }
    }
  }

 private:
  /// Waits for something to happen; the cause to end if it was one.
  std::optional<StdioEndCause> poll_once(std::optional<Clock::time_point> deadline) {
    std::array<pollfd, 3> entries = {
        pollfd{.fd = loop_.notice_fd(), .events = POLLIN, .revents = 0},
        pollfd{.fd = word_.fd(), .events = POLLIN, .revents = 0},
        // Once seen, a dead parent would keep poll from waiting.
        pollfd{.fd = parent_gone_ ? -1 : parent_.get(), .events = POLLIN, .revents = 0}};
    timespec left{};
    if (deadline) {
      const auto rest = std::max(*deadline - Clock::now(), Clock::duration::zero());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rest);
      left = {.tv_sec = seconds.count(), .tv_nsec = (rest - seconds).count()};
    }
    if (::ppoll(entries.data(), entries.size(), deadline ? &left : nullptr, nullptr) <= 0) {
      return std::nullopt;
    }
    if (entries[1].revents != 0) {
      word_.clear();
      return StdioEndCause::Signal;
    }
    if (entries[2].revents != 0) {
      parent_gone_ = true;
      return StdioEndCause::ParentGone;
    }
    loop_.clear_notice();
    if (loop_.broken()) {
      return StdioEndCause::OutputClosed;
    }
    return loop_.ended() ? std::optional(StdioEndCause::EndOfInput) : std::nullopt;
  }

  EventLoop& loop_;
  const EndingWord& word_;
  const UniqueFd& parent_;
  bool parent_gone_ = false;
};

}  // namespace

Result<StdioEnd> serve_stdio(const Server& server, const StdioOptions& options) {
  // First of all, so that no descriptor of ours can land on a standard one that is closed.
  Streams streams =
      BAWN_TRY(open_streams(options.in_fd, options.out_fd, options.take_standard_streams));
  EndingSignals signals;
  if (options.handle_signals) {
    BAWN_TRY(signals.take());
  }
  return serve_streams(server, options, std::move(streams), signals);
}

Result<StdioEnd> serve_streams(const Server& server, const StdioOptions& options, Streams streams,
                               const EndingWord& word) {
  const UniqueFd parent = options.watch_parent ? watch_parent() : UniqueFd();
  const auto loop = BAWN_TRY(EventLoop::create(server.core(), std::move(streams), options));
  if (auto started = loop->start(); !started) {
    [[maybe_unused]] const auto none = loop->stop();
    return std::unexpected(started.error());
  }
  Supervisor supervisor(*loop, word, parent);
  StdioEnd end;
  end.cause = supervisor.wait_for_cause();
  loop->stop_reading();
  supervisor.drain(options.eof_grace);
  if (!loop->drained()) {
    loop->interrupt();
    supervisor.drain(options.cancel_grace);
  }
  end.abandoned_calls = loop->stop();
  return end;
}

}  // namespace bawn::mcp
