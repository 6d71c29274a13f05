/// \file
/// One step of the persistent shell.
#pragma once

#include "driven_call.hpp"
#include "session_impl.hpp"

#include <optional>
#include <string>

namespace bawn::shell {

/// Threads: one at a time; holds the session's step slot until it concludes.
class BashCall final : public DrivenCall {
 public:
  /// `context` gives the recorder, not the cancellation.
  BashCall(Session::Impl& session, CallPtr record, BashRequest request,
           const contract::Context& context);

  /// Records the shell and sends the step. On an error the slot is still held.
  [[nodiscard]] Result<> begin();

 private:
  StopResult stop() override;
  void conclude(const std::optional<StopResult>& stopped) override;
  Look look() override;

  /// A shell that a text stopped (`kill -STOP $$`, `suspend`) goes on.
  void continue_shell();
  /// What look() does with a shell that is of no more use.
  [[nodiscard]] Look give_up(std::string why);
  [[nodiscard]] Result<> open_input();
  [[nodiscard]] Result<> send_step();
  void from_report(CallResult& result, const StepReport& report, bool restarted);
  void from_death(CallResult& result);
  void restore_shell(CallResult& result);
  /// Makes sure that the shell takes the next line, after a signal went to it.
  void barrier(CallResult& result);
  [[nodiscard]] bool release_streams();
  void list_survivors(CallResult& result, bool held);
  [[nodiscard]] CallScope scope() const;

  Session::Impl& session_;
  BashRequest request_;
  contract::Context recording_;
  StepFiles files_;
  std::uint64_t not_before_ = 0;
  std::size_t step_ = 0;    ///< length of the step's line
  Clock::time_point sent_;  ///< when it was sent
  std::string given_up_;    ///< why, if it was
  std::size_t queued_ = 0;  ///< length of the extra line that was sent, if any
  int looks_taken_ = 0;     ///< looks at which that line had been taken
  bool new_jobs_ = false;   ///< the report names jobs that the report before did not
  std::vector<std::string> notes_;
  std::optional<Json> record_data_;
};

}  // namespace bawn::shell
