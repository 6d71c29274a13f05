#include "live_request.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace bawn::mcp {

LiveRequest::LiveRequest(RequestId id, Era era, const contract::Context& parent,
                         std::shared_ptr<Outlet> outlet)
    : id_(std::move(id)), era_(std::move(era)), source_(parent), outlet_(std::move(outlet)) {}

void LiveRequest::want_progress(Json token, ProgressPace pace) {
  const std::scoped_lock lock(mutex_);
  token_ = std::move(token);
  pace_ = pace;
  due_ = started_ + pace.first;
  outlet_->tick_by(due_);
}

bool LiveRequest::open() const {
  const std::scoped_lock lock(mutex_);
  return state_ == State::Open;
}

void LiveRequest::answer(std::string line, HttpStatus status) {
  const std::scoped_lock lock(mutex_);
  if (state_ == State::Open) {
    state_ = State::Answered;
    outlet_->answer(std::move(line), status);
  }
}

bool LiveRequest::tell(std::string line) {
  const std::scoped_lock lock(mutex_);
  if (state_ != State::Open) {
    return false;
  }
  outlet_->send(std::move(line));
  return true;
}

void LiveRequest::tell_droppable(std::string_view key, std::string line) {
  const std::scoped_lock lock(mutex_);
  if (state_ == State::Open) {
    outlet_->send_droppable(key, std::move(line));
  }
}

void LiveRequest::cancel() {
  {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::Open) {
      return;
    }
    state_ = State::Cancelled;
  }
  // Outside the lock: the callbacks of the context run here.
  source_.cancel(contract::CancelReason::Cancelled);
  outlet_->withdrawn();
}

void LiveRequest::interrupt() const {
  source_.cancel(contract::CancelReason::Closed);
}

void LiveRequest::progress(const Progress& progress) {
  const std::scoped_lock lock(mutex_);
  if (state_ != State::Open || !token_) {
    return;
  }
  tool_counts_ = tool_counts_ || progress.done.has_value();
  send_progress(progress);
}

std::optional<LiveRequest::Clock::time_point> LiveRequest::sign_of_life(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  if (state_ != State::Open || !token_) {
    return std::nullopt;
  }
  if (now >= due_) {
    if (!tool_counts_) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - started_);
      send_progress({.message = fmt::format("running for {} s", seconds.count())});
    }
    while (due_ <= now) {
      due_ += pace_.every;
    }
  }
  return due_;
}

void LiveRequest::send_progress(const Progress& progress) {
  const double done = progress.done.value_or(sent_.value_or(0) + 1);
  if (!std::isfinite(done) || (sent_ && done <= *sent_)) {
    return;
  }
  sent_ = done;
  Json params = {{"progressToken", *token_}};
  if (progress.done) {
    params["progress"] = done;
  } else {
    params["progress"] = static_cast<std::uint64_t>(done);
  }
  if (progress.total) {
    params["total"] = *progress.total;
  }
  if (!progress.message.empty() && era_.features().annotations) {
    params["message"] = progress.message;
  }
  outlet_->send_droppable(contract::dump_json(*token_),
                          notification_line("notifications/progress", params));
}

}  // namespace bawn::mcp
