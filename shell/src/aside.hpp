/// \file
/// A text in a bash of its own, which begins with the state of the session's shell.
#pragma once

#include "exec_call.hpp"

namespace bawn::shell {

/// Writes the text's files and says what to start. `notes` become the call's.
///
/// Errors: those of the session's directory.
[[nodiscard]] Result<Launch> aside_launch(Session::Impl& session, const BashRequest& request,
                                          const CallRecord& record, const std::string& state,
                                          std::vector<std::string> notes);

}  // namespace bawn::shell
