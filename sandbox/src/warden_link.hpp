/// \file
/// One stream to one warden: requests with their answers, and exits of children.
#pragma once

#include "bawn/os/event_fd.hpp"
#include "bawn/sandbox/warden.hpp"
#include "frame_stream.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace bawn::sandbox {

/// What is known of one spawned child, shared by its handle and the link.
///
/// Threads: thread-safe.
class ChildState {
 public:
  explicit ChildState(os::EventFd event) : event_(std::move(event)) {}

  void end(ExitStatus status);
  /// The warden went away first: the status will never be known.
  void lose();
  [[nodiscard]] std::optional<ExitStatus> status() const;
  [[nodiscard]] bool lost() const;
  /// Readable once the status is known or lost.
  [[nodiscard]] int event() const noexcept { return event_.get(); }

 private:
  mutable std::mutex mutex_;
  std::optional<ExitStatus> status_;
  bool lost_ = false;
  os::EventFd event_;
};

/// What an Exited frame says.
[[nodiscard]] ExitStatus exit_status(const Frame& frame);
/// The sentence of a Refused frame.
[[nodiscard]] Error refusal(const Frame& frame);

/// Threads: thread-safe; on_readable() is for the I/O thread.
class WardenLink {
 public:
  explicit WardenLink(os::UniqueFd socket, std::chrono::milliseconds limit = kAnswerLimit)
      : limit_(limit), stream_(std::move(socket), limit) {}

  /// Sends a request and waits for its answer.
  ///
  /// Errors: Closed (the warden is gone); DeadlineExceeded (it did not answer); what it refused, as
  /// a sentence. Blocking: bounded by the limit, twice that while the stream is full.
  Result<Frame> ask(wire::Type type, std::string_view payload, std::span<const int> fds);
  /// The same for a spawn: `child` hears of the exit, however soon it comes.
  Result<Frame> ask_spawn(std::string_view payload, std::span<const int> fds,
                          std::shared_ptr<ChildState> child);

  /// Sends a frame that is not answered. Errors: Closed.
  Result<> tell(wire::Type type, std::string_view payload, std::span<const int> fds) {
    return stream_.send(type, 0, payload, fds);
  }

  /// The first frame, before the I/O thread has the link. Blocking: bounded by 30 s.
  Result<Frame> first_frame();

  /// No I/O thread will read: those who wait do it themselves. For a process with one thread, which
  /// is spared another one with its stack and heap.
  void read_by_waiting() noexcept { by_waiting_ = true; }
  [[nodiscard]] bool reads_by_waiting() const noexcept { return by_waiting_; }
  /// Takes in what is there without blocking. Only with read_by_waiting().
  void take_pending();

  /// Takes in what came; false when the stream ended.
  [[nodiscard]] bool on_readable();
  /// Ends all that waits.
  void lose();

  [[nodiscard]] bool alive() const;
  void shut_down() noexcept { stream_.shut_down(); }
  [[nodiscard]] int descriptor() const noexcept { return stream_.get(); }

 private:
  struct Waiter {
    std::condition_variable changed;
    std::optional<Frame> answer;
  };
  Result<Frame> exchange(wire::Type type, std::uint32_t id, Waiter& waiter,
                         std::string_view payload, std::span<const int> fds);
  void await(std::unique_lock<std::mutex>& lock, Waiter& waiter);
  void take(Frame&& frame);
  void take_exit(const Frame& frame);

  std::chrono::milliseconds limit_;
  bool by_waiting_ = false;
  FrameStream stream_;
  mutable std::mutex mutex_;
  bool lost_ = false;
  std::uint32_t next_id_ = 1;
  std::map<std::uint32_t, Waiter*> waiters_;
  std::map<std::uint32_t, std::shared_ptr<ChildState>> children_;
};

/// Hands the link to the process's one I/O thread, which reads it until it ends.
///
/// Errors: ResourceExhausted.
[[nodiscard]] Result<> start_reading(const std::shared_ptr<WardenLink>& link);

}  // namespace bawn::sandbox
