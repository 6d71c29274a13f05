/// \file
/// A text in a bash of its own, which begins with the state of the session's shell.
#pragma once

#include "exec_call.hpp"

namespace bawn::shell {

/// Writes the text's files and says what to start.
///
/// Errors: those of the session's directory.
[[nodiscard]] Result<Launch> aside_launch(Session::Impl& session, const BashRequest& request,
                                          const CallRecord& record, const std::string& state);

/// What a launch takes over from the request as it is.
void apply(const BashRequest& request, Launch& launch);

/// The same variables, and one for programs that ask what kind of terminal they are on.
[[nodiscard]] Variables with_terminal(Variables variables);

}  // namespace bawn::shell
