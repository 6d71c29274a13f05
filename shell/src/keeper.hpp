/// \file
/// The session's own thread: takes in what background jobs print after their call has ended, and
/// does the work that waits for an idle moment.
#pragma once

#include "bawn/os/event_fd.hpp"
#include "bawn/os/unique_fd.hpp"
#include "call_record.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bawn::shell {

/// Threads: thread-safe.
class Keeper {
 public:
  /// `on_idle` runs on the keeper's thread when an armed time has passed, `on_spare` soon after it
  /// was asked for.
  ///
  /// Errors: ResourceExhausted.
  static contract::Result<std::unique_ptr<Keeper>> start(std::function<void()> on_idle,
                                                         std::function<void()> on_spare);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Reads `fd` into the call until its last writer is gone.
  void watch(os::UniqueFd fd, CallPtr call, Stream stream);
  /// Calls on_idle once after `delay`, unless it is armed anew before; 0 disarms.
  void arm(std::chrono::milliseconds delay) const;
  /// Has on_spare called once.
  void ask_spare();
  /// Ends the thread. What is watched is closed.
  void stop();

 private:
  struct Late {
    os::UniqueFd fd;
    CallPtr call;
    Stream stream;
  };
  Keeper(std::function<void()> on_idle, std::function<void()> on_spare, os::EventFd wake,
         os::UniqueFd timer);
  void loop();

  std::function<void()> on_idle_;
  std::function<void()> on_spare_;
  os::EventFd wake_;
  os::UniqueFd timer_;
  std::mutex mutex_;
  std::vector<Late> arrived_;
  bool spare_asked_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace bawn::shell
