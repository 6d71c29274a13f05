/// \file
/// An outlet that keeps what it is given, for tests below the transport.
#pragma once

#include "bawn/contract/json.hpp"
#include "outlet.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace bawn::mcp::test {

class RecordingOutlet : public Outlet {
 public:
  void send(std::string line) override {
    const std::scoped_lock lock(mutex_);
    lines_.push_back(contract::parse_json(line).value());
  }
  void send_droppable(std::string_view /*key*/, std::string line) override {
    send(std::move(line));
  }
  void withdrawn() override { ++withdrawn_; }
  void tick_by(Clock::time_point time) override { tick_ = time; }

  [[nodiscard]] std::vector<contract::Json> lines() const {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }
  [[nodiscard]] int withdrawals() const { return withdrawn_; }
  [[nodiscard]] Clock::time_point tick() const { return tick_; }

 private:
  mutable std::mutex mutex_;
  std::vector<contract::Json> lines_;
  int withdrawn_ = 0;
  Clock::time_point tick_ = Clock::time_point::max();
};

}  // namespace bawn::mcp::test
