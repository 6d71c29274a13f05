/// \file
/// A process held by descriptor, so that a reused number can never be hit.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

#include <utility>

namespace bawn::os {

/// Owns a pidfd and remembers the number it had here.
///
/// States: empty (no process), running, exited (`exited()`; the number may belong to another by
/// now). Threads: thread-safe: const calls. Source: pidfd_open(2) (Linux 5.3), pidfd_send_signal(2)
/// (Linux 5.1).
class [[nodiscard]] Pidfd {
 public:
  Pidfd() noexcept = default;
  /// Takes a pidfd whose number in this PID namespace is `pid`.
  Pidfd(UniqueFd fd, int pid) noexcept : fd_(std::move(fd)), pid_(pid) {}

  /// The process that has the number now. The caller makes sure that it is the one meant: its own
  /// unreaped child, or one whose start time is compared afterwards.
  ///
  /// Errors: NotFound (no such process), ResourceExhausted.
  static contract::Result<Pidfd> open(int pid);
  /// Takes a pidfd that came from elsewhere and finds its number in this PID namespace.
  ///
  /// Errors: NotFound (already reaped, or not visible from here).
  static contract::Result<Pidfd> adopt(UniqueFd fd);

  [[nodiscard]] int get() const noexcept { return fd_.get(); }  ///< borrowed, readable at exit
  [[nodiscard]] int pid() const noexcept { return pid_; }
  /// The descriptor alone; this is empty then.
  [[nodiscard]] UniqueFd release() && noexcept { return std::move(fd_); }
  [[nodiscard]] bool is_open() const noexcept { return fd_.is_open(); }
  /// True once the process ended (or when there is none).
  [[nodiscard]] bool exited() const noexcept;
  /// Errors: NotFound (it ended and was reaped), PermissionDenied.
  contract::Result<> signal(int number) const;
  /// Collects our own child that has ended, so that it does not stay a zombie; never blocks.
  /// Returns false while it runs. A child that somebody else collected counts as ended.
  [[nodiscard]] bool reap() const noexcept;
  /// Waits for our own child to end and collects it. Blocking: without a limit.
  void wait() const noexcept;

 private:
  UniqueFd fd_;
  int pid_ = 0;
};

}  // namespace bawn::os
