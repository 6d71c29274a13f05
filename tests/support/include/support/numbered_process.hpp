/// \file
/// A process with a number of the test's choosing: a stranger who got the number of one that ended.
#pragma once

#include <sys/types.h>

#include <optional>

namespace bawn::test {

/// Only waits; ended with the test.
class NumberedProcess {
 public:
  /// None, with errno, when the number is taken, or without the right to choose
  /// (CAP_CHECKPOINT_RESTORE).
  ///
  /// Source: clone3(2), set_tid (Linux 5.5).
  static std::optional<NumberedProcess> start(pid_t number);
  NumberedProcess(NumberedProcess&& other) noexcept;
  NumberedProcess& operator=(NumberedProcess&& other) = delete;
  ~NumberedProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// False once a signal ended it.
  [[nodiscard]] bool runs() const;
  /// Blocks until a signal ended it.
  [[nodiscard]] bool was_killed() const;

 private:
  explicit NumberedProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

/// Returns once a process that starts now cannot be taken for one that started at `start_time`
/// (clock ticks after boot).
void await_later_tick(unsigned long long start_time);

}  // namespace bawn::test
