/// \file
/// The local end of one stream of a relay: a descriptor that a reader or writer of this process (or
/// a pipe that a caller gave away) has the other end of.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bawn::sandbox {

/// Moves bytes between a descriptor and the frames of a stream, and keeps the accounts of both:
/// what may be sent ahead, and how much of what came has been handed on.
///
/// Threads: not thread-safe; the link's lock guards it.
class LocalStream {
 public:
  enum class Way : unsigned char { Output, Input, Both };

  /// Fits `fd` for use by a thread that must not block. Pipes become non-blocking, sockets are used
  /// with MSG_DONTWAIT, regular files are used as they are.
  ///
  /// Errors: Unsupported (a terminal or a device: its state is shared with others).
  static contract::Result<LocalStream> make(std::uint32_t session, Way way, os::UniqueFd fd);

  [[nodiscard]] std::uint32_t session() const noexcept { return session_; }
  [[nodiscard]] bool takes() const noexcept { return way_ != Way::Input; }
  [[nodiscard]] bool gives() const noexcept { return way_ != Way::Output; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// For poll(2).
  [[nodiscard]] short events() const noexcept;

  // What comes from the relay.
  /// False when it is more than credit allows.
  [[nodiscard]] bool receive(std::string_view bytes);
  /// Hands on what the reader takes now. A reader that is gone counts as one that took everything.
  void deliver();
  /// Bytes that may be given back as credit; asked for and forgotten.
  [[nodiscard]] std::uint32_t take_owed() noexcept;
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  [[nodiscard]] std::uint64_t delivered() const noexcept { return received_ - pending_bytes(); }
  [[nodiscard]] std::size_t pending_bytes() const noexcept { return pending_.size() - at_; }

  // What goes to it.
  /// Reads what is there, as far as credit goes; empty at the end or when there is nothing now.
  [[nodiscard]] std::string_view fetch();
  /// False when that is more than was ever sent.
  [[nodiscard]] bool give_credit(std::uint32_t bytes) noexcept;
  /// Bytes that wait in the descriptor.
  [[nodiscard]] std::size_t waiting() const noexcept;

  /// The other side will send no more, or wants no more.
  void hear_end() noexcept;
  /// The descriptor's other end is gone or has ended, and nothing is left to do.
  [[nodiscard]] bool ended() const noexcept { return !fd_.is_open(); }
  void shut() noexcept;

  bool end_said = false;   ///< to the relay
  bool end_heard = false;  ///< from the relay
  bool fifo = false;       ///< printed to it comes before the session's reports and exits
  bool report = false;

 private:
  LocalStream(std::uint32_t session, Way way, os::UniqueFd fd, bool socket)
      : session_(session), way_(way), fd_(std::move(fd)), socket_(socket) {}
  [[nodiscard]] long write_some(const char* bytes, std::size_t size) const noexcept;

  std::uint32_t session_;
  Way way_;
  os::UniqueFd fd_;
  bool socket_;
  bool output_over_ = false;  ///< hear_end() came: the descriptor goes once everything is handed on
  std::string pending_;       ///< from at_ on
  std::size_t at_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t credited_ = 0;  ///< bytes of received_ that were given back
  std::uint32_t credit_ = 0;    ///< bytes that may go to the relay
};

}  // namespace bawn::sandbox
