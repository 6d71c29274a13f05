#include "bawn/os/poll.hpp"

#include "bawn/os/event_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <optional>
#include <stop_token>
#include <vector>

namespace bawn::os {

namespace {

using contract::CancelReason;
using contract::Context;
using contract::ErrorCode;

contract::Error ended_error(const Context& context) {
  switch (context.reason().value_or(CancelReason::Deadline)) {
    case CancelReason::Cancelled:
      return {ErrorCode::Cancelled, "the call was cancelled"};
    case CancelReason::Closed:
      return {ErrorCode::Closed, "the caller went away"};
    case CancelReason::Deadline:
      break;
  }
  return {ErrorCode::DeadlineExceeded, "the deadline passed"};
}

/// What is left until the deadline, rounded up to whole nanoseconds; none without a deadline.
std::optional<timespec> time_left(const Context& context) {
  const auto deadline = context.deadline();
  if (!deadline) {
    return std::nullopt;
  }
  const auto left = std::max(std::chrono::nanoseconds(*deadline - Context::Clock::now()),
                             std::chrono::nanoseconds(0));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return timespec{static_cast<time_t>(seconds.count()),
                  static_cast<long>((left - seconds).count())};
}

contract::Result<int> poll_until(std::span<pollfd> fds, const Context& context, int cancel_fd,
                                 std::size_t wanted) {
  for (;;) {
    const auto left = time_left(context);
    const int count = ::ppoll(fds.data(), fds.size(), left ? &*left : nullptr, nullptr);
    if (count < 0 && errno != EINTR) {
      return std::unexpected(contract::Error::from_errno(errno, "ppoll", "cannot wait"));
    }
    const auto ready = std::count_if(fds.begin(), fds.begin() + static_cast<std::ptrdiff_t>(wanted),
                                     [](const pollfd& entry) { return entry.revents != 0; });
    if (count > 0 && ready > 0) {
      return static_cast<int>(ready);
    }
    if ((cancel_fd >= 0 && context.cancelled()) || context.ended_at(Context::Clock::now())) {
      return std::unexpected(ended_error(context));
    }
  }
}

}  // namespace

contract::Result<int> wait_events(std::span<pollfd> fds, const Context& context) {
  const std::stop_token token = context.stop_token();
  if (!token.stop_possible()) {
    return poll_until(fds, context, -1, fds.size());
  }
  const EventFd cancelled = BAWN_TRY(EventFd::make());
  const std::stop_callback on_stop(token, [&cancelled] { cancelled.signal(); });
  std::vector<pollfd> all(fds.begin(), fds.end());
  all.push_back({cancelled.get(), POLLIN, 0});
  auto result = poll_until(all, context, cancelled.get(), fds.size());
  std::copy_n(all.begin(), fds.size(), fds.begin());
  return result;
}

contract::Result<> wait_readable(int fd, const Context& context) {
  pollfd entry{fd, POLLIN, 0};
  (void)BAWN_TRY(wait_events({&entry, 1}, context));
  return {};
}

}  // namespace bawn::os
