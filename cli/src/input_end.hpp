/// \file
/// Notices that whoever started a server is gone before the server reads its input.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/os/event_fd.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace bawn::cli {

/// Cancels a context when the other end of standard input is closed: at once when nothing waits
/// there to be read, else after kPatience, since a script may have written all it wants to ask and
/// still wait for the answers. A file has no other end.
///
/// Threads: not thread-safe, but for context().
class InputEnd {
 public:
  static constexpr std::chrono::seconds kPatience{10};

  /// Errors: ResourceExhausted (descriptors, threads).
  static contract::Result<std::unique_ptr<InputEnd>> watch();
  ~InputEnd() { finish(); }
  InputEnd(const InputEnd&) = delete;
  InputEnd& operator=(const InputEnd&) = delete;

  [[nodiscard]] const contract::Context& context() const noexcept { return source_.context(); }
  /// Stops watching. Idempotent.
  void finish();
  /// Whether the context was cancelled.
  [[nodiscard]] bool came() const noexcept { return came_; }

 private:
  explicit InputEnd(os::EventFd done) : done_(std::move(done)) {}
  void look();

  os::EventFd done_;
  const contract::CancelSource source_{contract::Context()};
  std::atomic<bool> came_{false};
  std::thread thread_;
};

}  // namespace bawn::cli
