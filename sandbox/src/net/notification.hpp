/// \file
/// One system call that waits for the supervisor's answer (seccomp_unotify(2)).
#pragma once

#include "bawn/os/unique_fd.hpp"

#include <sys/socket.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

namespace bawn::sandbox::net {

/// An address as a child gave it: copied once, never read again.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
};

/// Threads: not thread-safe.
class Notification {
 public:
  /// Takes the next one off a listener that poll(2) called readable; nullopt when it is gone.
  static std::optional<Notification> receive(std::shared_ptr<const os::UniqueFd> listener);

  [[nodiscard]] int call() const noexcept { return call_; }
  /// Argument 0 to 5 of the call.
  [[nodiscard]] std::uint64_t argument(int at) const noexcept { return arguments_[at]; }
  /// True while the caller still waits: what was read of it by its number was its own.
  [[nodiscard]] bool is_waiting() const noexcept;

  /// A duplicate of the caller's descriptor, or an errno (pidfd_getfd(2), Linux 5.6).
  [[nodiscard]] std::expected<os::UniqueFd, int> borrow(int fd) const;
  /// The address that two arguments (pointer, length) point at, or an errno.
  [[nodiscard]] std::expected<SocketAddress, int> address(int pointer, int length) const;

  /// The call returns 0, or fails with `errnum`.
  void answer(int errnum) const noexcept;
  /// The kernel does the call itself; it reads its arguments again.
  void let_through() const noexcept;

 private:
  std::shared_ptr<const os::UniqueFd> listener_;
  std::uint64_t id_ = 0;
  int thread_ = 0;
  int call_ = 0;
  std::uint64_t arguments_[6] = {};
};

}  // namespace bawn::sandbox::net
