/// \file
/// One process beside the shell: a program, or a bash of its own for one text.
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
  /// Of a text: its files are r/NAME, r/NAME.t, r/NAME.s and w/NAME.q; empty for a program.
  std::string files;
  StateFile statuses;  ///< what it writes into w/NAME.q
  std::vector<std::string> notes;
};

/// Threads: one at a time.
class ExecCall final : public DrivenCall {
 public:
  /// `context` gives the recorder, not the cancellation.
  ExecCall(Session::Impl& session, CallPtr record, Launch launch, const contract::Context& context);
  ~ExecCall() override;

  /// Starts the process: record first, then go.
  ///
  /// Errors: the warden's, the recorder's.
  [[nodiscard]] Result<> begin();

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

  Session::Impl& session_;
  Launch launch_;
  contract::Context recording_;
  std::shared_ptr<sandbox::Child> child_;
  std::uint64_t not_before_ = 0;
  std::optional<Json> record_data_;
  os::UniqueFd out_;
  os::UniqueFd err_;
};

}  // namespace bawn::shell
