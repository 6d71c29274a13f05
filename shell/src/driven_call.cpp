#include "driven_call.hpp"

#include "keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace bawn::shell {

namespace {
constexpr std::chrono::milliseconds kFirstLook{60};
constexpr std::chrono::milliseconds kSoon{50};
constexpr std::chrono::milliseconds kLastLook{10'000};
}  // namespace

DrivenCall::DrivenCall(CallPtr record, const Limits& limits)
    : record_(std::move(record)), limits_(limits), look_after_(kFirstLook) {
  const auto now = Clock::now();
  if (limits.timeout) {
    timeout_at_ = now + *limits.timeout;
  }
  look_at_ = now + look_after_;
}

std::optional<DrivenCall::Clock::time_point> DrivenCall::next_wake(
    const contract::Context& context, std::optional<Clock::time_point> yield_at) const {
  Clock::time_point next = look_at_;
  for (const auto& one : {yield_at, timeout_at_, context.deadline()}) {
    next = one ? std::min(next, *one) : next;
  }
  return next;
}

bool DrivenCall::check_limits(const contract::Context& context, Clock::time_point now) {
  if (limits_.output_limit != 0 && record_->largest_stream() > limits_.output_limit) {
    record_->request_stop(StopCause::OutputLimit);
  }
  if (context.deadline() && now >= *context.deadline()) {
    record_->request_stop(StopCause::Timeout);
  }
  if (!timeout_at_ || now < *timeout_at_) {
    return false;
  }
  if (limits_.on_timeout == OnTimeout::Kill) {
    record_->request_stop(StopCause::Timeout);
    return false;
  }
  timeout_at_.reset();
  record_->add_note(fmt::format(
      "The time limit of {} ms passed; the call goes on in the background, as it was asked for.",
      limits_.timeout->count()));
  return true;
}

DrivenCall::Progress DrivenCall::drive(const contract::Context& context,
                                       std::optional<Clock::time_point> yield_at, bool foreground) {
  const auto cancel = [record = record_, &context] {
    record->request_stop(context.reason() == contract::CancelReason::Closed ? StopCause::Closed
                                                                            : StopCause::Cancelled);
  };
  const std::stop_callback<std::function<void()>> on_cancel(context.stop_token(), cancel);
  for (;;) {
    if (record_->stop_cause() != StopCause::None) {
      conclude(stop());
      return Progress::Finished;
    }
    const auto events = pump_->wait(next_wake(context, yield_at));
    if (events.reported || events.exited) {
      conclude(std::nullopt);
      return Progress::Finished;
    }
    const auto now = Clock::now();
    const bool outlived = check_limits(context, now);
    if (now >= look_at_) {
      const Look seen = look();
      if (seen.stopped) {
        conclude(seen.stopped);
        return Progress::Finished;
      }
      look_after_ = seen.soon ? look_after_ : std::min(2 * look_after_, kLastLook);
      look_at_ = now + (seen.soon ? kSoon : look_after_);
    }
    if (outlived && foreground && record_->stop_cause() == StopCause::None) {
      return Progress::Yielded;
    }
    if (yield_at && now >= *yield_at && record_->stop_cause() == StopCause::None) {
      return Progress::Yielded;
    }
  }
}

bool DrivenCall::release_stream(Keeper& keeper, Stream stream, os::UniqueFd& fd) {
  if (!fd.is_open() || at_end(*record_, stream, fd.get())) {
    return false;
  }
  keeper.watch(std::move(fd), record_, stream);
  return true;
}

void DrivenCall::apply_cause(CallResult& result, bool stopped) const {
  const StopCause cause = record_->stop_cause();
  switch (stopped || cause == StopCause::Closed ? cause : StopCause::None) {
    case StopCause::None:
      return;
    case StopCause::Cancelled:
      result.reason = Reason::Cancelled;
      return;
    case StopCause::Timeout:
      result.reason = Reason::Timeout;
      return;
    case StopCause::OutputLimit:
      result.reason = Reason::OutputLimit;
      return;
    case StopCause::Closed:
      result.reason = Reason::ShellLost;
      return;
  }
}

}  // namespace bawn::shell
