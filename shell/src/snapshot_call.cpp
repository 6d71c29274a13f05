#include "snapshot_call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <utility>

namespace bawn::shell {

SnapshotCall::SnapshotCall(Session::Impl& session, CallPtr record, Launch launch,
                           BashRequest request, const contract::Context& context)
    : ExecCall(session, std::move(record), std::move(launch), context),
      request_(std::move(request)) {}

void SnapshotCall::add_details(CallResult& result) {
  SnapshotShell& shell = *session_.snapshot;
  const std::size_t limit = session_.config.limits.snapshot_bytes;
  switch (shell.take(launch_, request_, limit, result)) {
    case SnapshotShell::Taken::Kept:
      break;
    case SnapshotShell::Taken::None:
      result.shell_restarted = true;
      result.restored = Restored::Snapshot;
      result.notes.push_back(fmt::format(
          "The shell ended without leaving its state (exec, a signal, a trap of its own, or more "
          "than {} bytes): the next call begins with the state from before this one.",
          limit));
      break;
    case SnapshotShell::Taken::Refused:
      result.reason = Reason::ShellLost;
      result.shell_restarted = true;
      result.restored = Restored::Nothing;
      result.notes.emplace_back(
          "The shell could not take on the state of the call before, so nothing of this text ran; "
          "the next call begins afresh.");
      break;
  }
  shell.set_last_status(result.exit_code.value_or(0));
  if (shell.introduce()) {
    result.notes.push_back(fmt::format(
        "There is no bash here. {} runs each call anew, with the directory, variables, exports, "
        "umask, options and aliases of the call before. Not kept: {}.",
        session_.config.sh, fmt::join(shell.not_kept(), "; ")));
  } else if (!shell.prints_functions() && request_.command.find("()") != std::string::npos) {
    result.notes.emplace_back(
        "This shell cannot print functions: those of a text end with its call. Put them into a "
        "file and read it with `.`.");
  }
}

void SnapshotCall::release() {
  session_.release_step();
}

Result<std::shared_ptr<DrivenCall>> Session::Impl::begin_in_new_shell(
    const contract::Context& context, const CallPtr& record, BashRequest request) {
  if (!BAWN_TRY(parses(context, record, request))) {
    return nullptr;
  }
  Launch launch = BAWN_TRY(snapshot->launch(*this, request, true));
  auto call =
      std::make_shared<SnapshotCall>(*this, record, std::move(launch), std::move(request), context);
  BAWN_TRY(call->begin());
  return call;
}

}  // namespace bawn::shell
