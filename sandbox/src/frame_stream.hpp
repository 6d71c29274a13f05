/// \file
/// Frames over the stream socket, seen from the server.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"
#include "wire.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace bawn::sandbox {

/// How long a warden, which does nothing that can block, may take to react.
inline constexpr std::chrono::milliseconds kAnswerLimit{10000};

struct Frame {
  wire::Type type{};
  std::uint32_t id = 0;
  std::string payload;
  os::UniqueFd fd;  ///< of a Spawned or Ready frame
};

/// Threads: send() is thread-safe; pump() is for one thread.
class FrameStream {
 public:
  /// `send_limit`: how long the other side may leave a full stream unread.
  explicit FrameStream(os::UniqueFd socket, std::chrono::milliseconds send_limit = kAnswerLimit);

  /// Sends a whole frame; the receiver gets copies of `fds`.
  ///
  /// Errors: Closed (the other side is gone, or did not read within the limit: then the stream is
  /// ended, for a frame may be torn). Blocking: bounded by the limit per part that it does take.
  contract::Result<> send(wire::Type type, std::uint32_t id, std::string_view payload,
                          std::span<const int> fds);

  /// Takes in what is there without blocking and hands over each complete frame. False at the end
  /// of the stream or when it is broken.
  [[nodiscard]] bool pump(const std::function<void(Frame&&)>& take);

  /// Ends both directions; the descriptor stays until destruction.
  void shut_down() noexcept;
  [[nodiscard]] int get() const noexcept { return socket_.get(); }

 private:
  [[nodiscard]] bool receive_some();
  [[nodiscard]] bool hand_over(const std::function<void(Frame&&)>& take);

  os::UniqueFd socket_;
  std::mutex sending_;
  std::string buffer_;
  // A received message may glue bytes of several frames together, but never more than one set of
  // descriptors, and sets come in the order of their frames.
  std::deque<os::UniqueFd> fds_;
};

}  // namespace bawn::sandbox
