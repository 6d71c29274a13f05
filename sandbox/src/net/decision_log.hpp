/// \file
/// The bounded log of a session's decisions.
#pragma once

#include "bawn/sandbox/egress.hpp"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <vector>

namespace bawn::sandbox::net {

/// Threads: thread-safe.
class DecisionLog {
 public:
  explicit DecisionLog(std::size_t most) : most_(most) {}

  /// Numbers and keeps it; the oldest goes when there is no room. Returns the number.
  std::uint64_t add(EgressDecision decision);
  void add_bytes(std::uint64_t number, std::uint64_t sent, std::uint64_t received);
  void set_address(std::uint64_t number, std::string address);
  void set_failure(std::uint64_t number, std::string failure);

  [[nodiscard]] std::vector<EgressDecision> after(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t last() const;

 private:
  [[nodiscard]] EgressDecision* find(std::uint64_t number);

  std::size_t most_;
  mutable std::mutex mutex_;
  std::deque<EgressDecision> kept_;
  std::uint64_t last_ = 0;
};

}  // namespace bawn::sandbox::net
