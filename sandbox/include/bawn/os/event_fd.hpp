/// \file
/// A descriptor that one thread makes readable for another's poll(2).
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

namespace bawn::os {

/// Threads: signal() is thread-safe; the rest is not.
/// Source: eventfd(2).
class EventFd {
 public:
  /// Errors: ResourceExhausted (descriptors).
  static contract::Result<EventFd> make();

  /// Makes it readable until clear().
  void signal() const noexcept;
  /// Makes it unreadable; harmless when it is so already.
  void clear() const noexcept;
  /// Borrowed, for poll(2).
  [[nodiscard]] int get() const noexcept { return fd_.get(); }

 private:
  explicit EventFd(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace bawn::os
