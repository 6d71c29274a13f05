/// \file
/// The calls of one session whose output is still kept.
#pragma once

#include "call_record.hpp"

#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace bawn::shell {

/// Keeps all running calls and the most recent finished ones.
///
/// Threads: thread-safe.
class Calls {
 public:
  explicit Calls(std::size_t keep) : keep_(keep) {}

  void add(CallPtr call);
  void remove(const std::string& id);
  [[nodiscard]] CallPtr find(const std::string& id) const;
  /// Oldest first.
  [[nodiscard]] std::vector<CallPtr> all() const;

  /// Notes that the caller of `id` went away without its result.
  void mark_unseen(const std::string& id);
  /// The calls marked since the last time it was asked.
  [[nodiscard]] std::vector<std::string> take_unseen();

 private:
  mutable std::mutex mutex_;
  std::size_t keep_;
  std::deque<CallPtr> calls_;
  std::vector<std::string> unseen_;
};

}  // namespace bawn::shell
