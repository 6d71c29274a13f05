/// \file
/// Standard input of a running call that can be written while it runs: a pipe, or the outer end of
/// a terminal.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/event_fd.hpp"
#include "bawn/os/unique_fd.hpp"
#include "bawn/shell/session.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::shell {

/// Takes input from any thread and hands it to the call as fast as the call reads.
///
/// Threads: thread-safe; flush() is for the thread that drives the call.
class InputFeed {
 public:
  /// Bytes that may wait for a call that does not read.
  static constexpr std::size_t kMostWaiting = 1024 * 1024;

  struct End {
    os::UniqueFd write;  ///< must not block
    os::UniqueFd
        held{};      ///< our own reading end of a pipe, so that nothing breaks without a reader
    int inner = -1;  ///< what the call's processes read from, only looked at; -1 = not here
    bool terminal = false;
  };
  /// Errors: ResourceExhausted.
  static Result<std::shared_ptr<InputFeed>> make(End end);

  /// The size of a terminal that is not here is set by this.
  void resize_by(std::function<Result<>(TerminalSize)> resize);

  /// Queues bytes. Errors: InvalidArgument (the input has ended, or the call has),
  /// ResourceExhausted (too much waits already; nothing was taken).
  [[nodiscard]] Result<> write(std::string_view bytes);
  /// Ends the input behind what is queued: end of file for a pipe, the end-of-file character for a
  /// terminal, which a program in raw mode gets as a byte.
  [[nodiscard]] Result<> end();
  /// Tells the programs on a terminal its size. Errors: InvalidArgument when it is a pipe.
  [[nodiscard]] Result<> resize(TerminalSize size);

  /// Writes what the other side takes now.
  void flush();
  /// Readable when flush() has work; borrowed, until shut().
  [[nodiscard]] int work_fd() const noexcept { return work_ ? work_->get() : -1; }
  /// To be polled for writing, or -1 when nothing waits; borrowed.
  [[nodiscard]] int full_fd() const;
  /// Bytes that wait here.
  [[nodiscard]] std::size_t waiting() const;
  /// True when the call has taken everything, also out of the kernel's buffer.
  [[nodiscard]] bool consumed() const;
  [[nodiscard]] bool is_terminal() const noexcept { return terminal_; }
  /// True when the descriptor of a process is this input: `path` as /proc/PID/fd/N.
  [[nodiscard]] bool is_at(const std::string& path) const;
  /// The call is over: nothing more is taken and the descriptors go.
  void shut();

 private:
  InputFeed(End end, os::EventFd work);
  bool identify(int inner);

  mutable std::mutex mutex_;
  os::UniqueFd write_;
  os::UniqueFd held_;
  std::optional<os::EventFd> work_;
  const bool terminal_;
  std::function<Result<>(TerminalSize)> resize_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::string queue_;
  bool ended_ = false;
  bool shut_ = false;
};

}  // namespace bawn::shell
