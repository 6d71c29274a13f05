#include "batch.hpp"

#include <utility>

namespace bawn::mcp {

BatchOutlet::BatchOutlet(std::shared_ptr<Outlet> outlet) : outlet_(std::move(outlet)) {}

void BatchOutlet::expect() {
  const std::scoped_lock lock(mutex_);
  ++expected_;
}

void BatchOutlet::complete() {
  settle({});
}

void BatchOutlet::send(std::string line) {
  outlet_->send(std::move(line));
}

void BatchOutlet::answer(std::string line, HttpStatus /*status*/) {
  settle(line);
}

void BatchOutlet::send_droppable(std::string_view key, std::string line) {
  outlet_->send_droppable(key, std::move(line));
}

void BatchOutlet::withdrawn() {
  settle({});
}

void BatchOutlet::tick_by(Clock::time_point time) {
  outlet_->tick_by(time);
}

void BatchOutlet::settle(std::string_view line) {
  std::string all;
  {
    const std::scoped_lock lock(mutex_);
    if (!line.empty()) {
      answers_ += answers_.size() > 1 ? "," : "";
      answers_ += line;
    }
    if (--expected_ > 0) {
      return;
    }
    if (answers_.size() > 1) {
      all = std::exchange(answers_, "[") + "]";
    }
  }
  if (all.empty()) {
    outlet_->withdrawn();
  } else {
    outlet_->answer(std::move(all), HttpStatus::Ok);
  }
}

}  // namespace bawn::mcp
