/// \file
/// Whether the kernel ended processes for lack of memory. It tells no parent which: a SIGKILL of
/// its own is all that one sees. The machine's count of such kills is the evidence beside it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace bawn::shell {

/// Threads: thread-safe.
class OomWatch {
 public:
  /// `counters` is a file like /proc/vmstat, whose line "oom_kill N" (Linux 4.13) counts kills by
  /// the machine's and by memory cgroups' limits. Without that line nothing is ever counted.
  explicit OomWatch(std::string counters);

  /// Counts from now on.
  void begin();
  /// Kills since begin().
  [[nodiscard]] std::uint64_t kills() const;

 private:
  [[nodiscard]] std::uint64_t read() const;

  const std::string counters_;
  mutable std::mutex mutex_;
  std::uint64_t base_ = 0;
};

}  // namespace bawn::shell
