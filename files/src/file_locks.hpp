/// \file
/// Calls of this server that change the same file wait for each other.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace bawn::files {

/// Locks by name, shared by names of the same hash. Threads: thread-safe.
class FileLocks {
 public:
  using Held = std::vector<std::unique_lock<std::mutex>>;
  /// Holds all of `names` at once; always taken in one order, so that two calls never wait for each
  /// other in a circle. Blocking: until the calls before are done, which the agent bounds.
  [[nodiscard]] Held hold(const std::vector<std::string>& names) {
    std::set<std::size_t> slots;
    for (const std::string& name : names) {
      slots.insert(std::hash<std::string>()(name) % mutexes_.size());
    }
    Held held;
    for (const std::size_t slot : slots) {
      held.emplace_back(mutexes_[slot]);
    }
    return held;
  }

 private:
  std::array<std::mutex, 64> mutexes_;
};

}  // namespace bawn::files
