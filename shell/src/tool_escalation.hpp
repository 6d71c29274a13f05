/// \file
/// bash and exec with a `request`: decided first, then run once behind a wall of its own.
#pragma once

#include "tool_arguments.hpp"
#include "tool_support.hpp"

#include <functional>
#include <string>

namespace bawn::shell {

/// One call that asks for more.
struct EscalatedCall {
  std::string tool;
  std::string command;  ///< for whoever decides
  std::function<Result<CallResult>(Session&)> run;
};

/// What does not go with a request, since the call's wall ends with the call.
///
/// Errors: InvalidArgument.
[[nodiscard]] Result<> check_escalated(const CallArguments& args);

/// Decides and, on a yes, runs the call in a session of its own under the widened policy, whose
/// report the outcome has. A no is an outcome with the reason "denied"; nothing ran. Never falls
/// back to anything weaker or stronger than what was granted.
[[nodiscard]] contract::Outcome run_escalated(const ToolSupport& support,
                                              const contract::Context& context,
                                              const CallArguments& args, const EscalatedCall& call);

}  // namespace bawn::shell
