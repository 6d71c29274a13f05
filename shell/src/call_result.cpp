#include "bawn/shell/call_result.hpp"

namespace bawn::shell {

std::string_view to_string(CallState state) noexcept {
  return state == CallState::Running ? "running" : "finished";
}

std::string_view to_string(Reason reason) noexcept {
  switch (reason) {
    case Reason::Exited:
      return "exited";
    case Reason::Signalled:
      return "signalled";
    case Reason::Timeout:
      return "timeout";
    case Reason::Cancelled:
      return "cancelled";
    case Reason::OutputLimit:
      return "output_limit";
    case Reason::Oom:
      return "oom";
    case Reason::Denied:
      return "denied";
    case Reason::SyntaxError:
      return "syntax_error";
    case Reason::IncompleteInput:
      return "incomplete_input";
    case Reason::ShellLost:
      return "shell_lost";
  }
  return "shell_lost";
}

std::string_view to_string(Restored restored) noexcept {
  switch (restored) {
    case Restored::No:
      return "not_needed";
    case Restored::Full:
      return "restored";
    case Restored::Snapshot:
      return "from_last_snapshot";
    case Restored::Nothing:
      return "lost";
  }
  return "lost";
}

}  // namespace bawn::shell
