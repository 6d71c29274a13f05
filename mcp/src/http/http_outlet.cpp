#include "http/http_outlet.hpp"

#include <algorithm>
#include <utility>

namespace bawn::mcp {

HttpOutlet::HttpOutlet(bool streams, std::size_t max_bytes, std::function<void()> wake)
    : streams_(streams), max_bytes_(max_bytes), wake_(std::move(wake)) {}

HttpOutlet::Taken HttpOutlet::take() {
  const std::scoped_lock lock(mutex_);
  Taken taken{.messages = {},
              .answer = std::exchange(answer_, std::nullopt),
              .withdrawn = withdrawn_,
              .overflowed = overflowed_};
  for (Waiting& waiting : waiting_) {
    taken.messages.push_back(std::move(waiting.line));
  }
  waiting_.clear();
  bytes_ = 0;
  return taken;
}

bool HttpOutlet::answered() {
  const std::scoped_lock lock(mutex_);
  return answer_.has_value();
}

std::optional<Outlet::Clock::time_point> HttpOutlet::tick_due() {
  const std::scoped_lock lock(mutex_);
  return tick_;
}

void HttpOutlet::clear_tick() {
  const std::scoped_lock lock(mutex_);
  tick_.reset();
}

void HttpOutlet::close() {
  const std::scoped_lock lock(mutex_);
  wake_ = nullptr;
  waiting_.clear();
}

void HttpOutlet::send(std::string line) {
  push({.line = std::move(line), .key = {}});
}

void HttpOutlet::send_droppable(std::string_view key, std::string line) {
  push({.line = std::move(line), .key = std::string(key)});
}

void HttpOutlet::push(Waiting waiting) {
  const std::scoped_lock lock(mutex_);
  if (!streams_ || !wake_) {
    return;
  }
  if (!waiting.key.empty()) {
    const auto same =
        std::ranges::find_if(waiting_, [&](const Waiting& one) { return one.key == waiting.key; });
    if (same != waiting_.end()) {
      bytes_ = bytes_ - same->line.size() + waiting.line.size();
      same->line = std::move(waiting.line);
      return;
    }
    if (bytes_ + waiting.line.size() > max_bytes_) {
      return;
    }
  }
  bytes_ += waiting.line.size();
  waiting_.push_back(std::move(waiting));
  overflowed_ = overflowed_ || bytes_ > max_bytes_;
  wake();
}

void HttpOutlet::answer(std::string line, HttpStatus status) {
  const std::scoped_lock lock(mutex_);
  answer_ = Answer{.line = std::move(line), .status = status};
  wake();
}

void HttpOutlet::withdrawn() {
  const std::scoped_lock lock(mutex_);
  withdrawn_ = true;
  wake();
}

void HttpOutlet::tick_by(Clock::time_point time) {
  const std::scoped_lock lock(mutex_);
  if (!tick_ || time < *tick_) {
    tick_ = time;
    wake();
  }
}

void HttpOutlet::wake() const {
  if (wake_) {
    wake_();
  }
}

void SessionOutlet::attach(const std::shared_ptr<HttpOutlet>& stream) {
  std::shared_ptr<HttpOutlet> before;
  {
    const std::scoped_lock lock(mutex_);
    before = stream_.lock();
    stream_ = stream;
  }
  if (before != nullptr && before != stream) {
    before->withdrawn();
  }
}

void SessionOutlet::send(std::string line) {
  if (const auto to = stream()) {
    to->send(std::move(line));
  }
}

void SessionOutlet::send_droppable(std::string_view key, std::string line) {
  if (const auto to = stream()) {
    to->send_droppable(key, std::move(line));
  }
}

std::shared_ptr<HttpOutlet> SessionOutlet::stream() const {
  const std::scoped_lock lock(mutex_);
  return stream_.lock();
}

}  // namespace bawn::mcp
