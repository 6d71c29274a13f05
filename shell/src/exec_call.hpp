/// \file
/// One process of its own: a program, or a shell for one text.
#pragma once

#include "bawn/sandbox/warden.hpp"
#include "driven_call.hpp"
#include "session_impl.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bawn::shell {

/// What to start, and how.
struct Launch {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< all of it
  std::string cwd;                       ///< absolute
  std::optional<std::string> input;
  bool input_open = false;
  std::optional<TerminalSize> terminal;
  bool read_only = false;
  DrivenCall::Limits limits;
  /// Of a text: its files are r/NAME, r/NAME.t, r/NAME.s, r/NAME.l and w/NAME.q; empty for a
  /// program.
  std::string files;
  StateFile statuses;             ///< what a bash writes into w/NAME.q: the pipe statuses
  StateFile left_behind;          ///< what an sh writes there: the state for the next one
  std::string shown_as = "bash";  ///< in views of its output, in place of the text's path
  std::vector<std::string> notes;
};

/// Threads: one at a time.
class ExecCall : public DrivenCall {
 public:
  /// `context` gives the recorder, not the cancellation.
  ExecCall(Session::Impl& session, CallPtr record, Launch launch, const contract::Context& context);
  ~ExecCall() override;

  /// Starts the process: record first, then go.
  ///
  /// Errors: the warden's, the recorder's.
  [[nodiscard]] Result<> begin();

 protected:
  /// What else the result says, once the process has ended.
  virtual void add_details(CallResult& result);
  /// Gives the call's place back.
  virtual void release();

  Session::Impl& session_;
  Launch launch_;

 private:
  /// Gives the process its three descriptors and keeps our ends.
  [[nodiscard]] Result<> connect(sandbox::SpawnSpec& spec);
  [[nodiscard]] Result<> connect_terminal(sandbox::SpawnSpec& spec);
  /// Makes the child's terminal where it will run, behind a relay.
  [[nodiscard]] Result<> connect_remote_terminal(sandbox::SpawnSpec& spec);
  [[nodiscard]] Result<> connect_input(sandbox::SpawnSpec& spec);
  StopResult stop() override;
  void conclude(const std::optional<StopResult>& stopped) override;
  void from_status(CallResult& result) const;
  [[nodiscard]] CallScope scope() const;

  contract::Context recording_;
  std::shared_ptr<sandbox::Child> child_;
  std::uint64_t not_before_ = 0;
  std::optional<Json> record_data_;
  os::UniqueFd out_;
  os::UniqueFd err_;
};

}  // namespace bawn::shell
