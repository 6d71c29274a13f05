/// \file
/// Ends what one call started and keeps the shell: INT, then TERM, then KILL; the children first,
/// the shell itself only where it has none.
#pragma once

#include "bash_process.hpp"
#include "call_processes.hpp"
#include "pump.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace bawn::shell {

struct StopResult {
  std::string step;  ///< the last step that was needed: INT, TERM, KILL, shell_restart; or empty
  bool reported = false;         ///< the step's report came
  bool exited = false;           ///< the process (the shell, or the program) ended
  bool killed_shell = false;     ///< we ended the shell, because nothing else ended the call
  bool shell_signalled = false;  ///< the shell itself got a SIGINT: a barrier is due
  std::size_t queued = 0;  ///< bytes of lines behind the step's that the shell may not have read
  std::vector<Survivor> survivors;
};

/// Threads: one at a time, the thread that drives the call.
class Stopper {
 public:
  /// `shell` is null for a one-shot process. `queued` is how many bytes of a later line may wait in
  /// the shell's input, `nonce` the step's.
  Stopper(sandbox::Warden& warden, CallScope scope, std::chrono::milliseconds grace, Pump& pump,
          BashProcess* shell, std::size_t queued, std::string nonce);

  /// Blocking: at most three times the grace and a little; usually a few milliseconds.
  [[nodiscard]] StopResult run();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool call_ended() const noexcept { return result_.reported || result_.exited; }
  void send(int signal, const char* step);
  /// True once the call and all its processes are gone; false when the time is over.
  bool settle(Clock::time_point end, bool first_step);
  void look_at_shell(const std::vector<sandbox::ProcessInfo>& processes);
  /// One that was forked while TERM went round has not got it.
  void terminate_latecomers(const std::vector<sandbox::ProcessInfo>& processes);
  void wait_for_change(const std::vector<sandbox::ProcessInfo>& processes, Clock::time_point until);
  void interrupt_shell();
  void ask_for_report();
  [[nodiscard]] bool is_report_lost(const std::vector<sandbox::ProcessInfo>& processes) noexcept;
  void kill_shell();
  void note(const Pump::Events& events) noexcept;

  sandbox::Warden& warden_;
  CallScope scope_;
  std::chrono::milliseconds grace_;
  Pump& pump_;
  BashProcess* shell_;
  std::size_t queued_;
  std::string nonce_;   ///< of the step that is stopped
  bool asked_ = false;  ///< ask_for_report() was
  StopResult result_;
  int looks_ = 0;
  int looks_since_asked_ = 0;
  int looks_at_prompt_ = 0;  ///< of those, in a row, at a shell that slept at its prompt
  char shell_state_ = '?';   ///< when the processes were last listed
  std::vector<sandbox::ProcessInfo> known_;  ///< the processes at that time
  bool terminating_ = false;                 ///< TERM went round
};

}  // namespace bawn::shell
