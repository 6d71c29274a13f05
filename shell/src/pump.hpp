/// \file
/// Moves a running call's output into its record and says when something happened.
#pragma once

#include "call_record.hpp"
#include "input_feed.hpp"
#include "report_channel.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bawn::shell {

/// Threads: one at a time.
class Pump {
 public:
  using Clock = std::chrono::steady_clock;

  /// `out` and `err` are read without blocking. `exit_fd` becomes readable when the process ended.
  /// `reports` and `nonce` are the shell's; without them the end of the process is the end.
  Pump(CallPtr call, int out, int err, int exit_fd, ReportChannel* reports, std::string nonce);

  struct Events {
    bool reported = false;  ///< the step's report came; see report()
    bool exited = false;    ///< the process ended
    bool woken = false;     ///< somebody asked the call to stop
  };

  /// Blocks until an event, until one of `extra` is readable, or until the time; moves what comes
  /// meanwhile. A stop that was already seen is not reported again.
  [[nodiscard]] Events wait(std::optional<Clock::time_point> until,
                            std::span<const int> extra = {});

  /// Takes what is in the pipes at this moment.
  void drain();

  [[nodiscard]] const std::optional<StepReport>& report() const noexcept { return report_; }
  void ignore_wake() noexcept { wake_seen_ = true; }

 private:
  bool read_some(Stream stream);
  void drain_stream(Stream stream);

  CallPtr call_;
  int out_;
  int err_;
  int exit_fd_;
  ReportChannel* reports_;
  std::string nonce_;
  std::optional<StepReport> report_;
  bool wake_seen_ = false;
  bool exit_seen_ = false;
};

/// True when the pipe has no writer left and is empty; takes in what it still holds. False while
/// somebody holds it, also when he writes faster than we read.
[[nodiscard]] bool at_end(CallRecord& call, Stream stream, int fd);

}  // namespace bawn::shell
