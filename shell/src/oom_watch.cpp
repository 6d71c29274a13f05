#include "oom_watch.hpp"

#include <fstream>
#include <utility>

namespace bawn::shell {

OomWatch::OomWatch(std::string counters) : counters_(std::move(counters)) {
  begin();
}

std::uint64_t OomWatch::read() const {
  std::ifstream file(counters_);
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "oom_kill") {
      return value;
    }
  }
  return 0;
}

void OomWatch::begin() {
  const std::uint64_t now = read();
  const std::lock_guard lock(mutex_);
  base_ = now;
}

std::uint64_t OomWatch::kills() const {
  const std::uint64_t now = read();
  const std::lock_guard lock(mutex_);
  return now > base_ ? now - base_ : 0;
}

}  // namespace bawn::shell
