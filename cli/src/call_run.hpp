/// \file
/// One call of a tool as `bawn call` makes it: with the command line's answers to the tool's
/// questions, its result checked as a server would check it.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/result.hpp"
#include "bawn/contract/tool.hpp"
#include "call_arguments.hpp"
#include "commands.hpp"

#include <optional>
#include <string>

namespace bawn::cli {

/// Exit statuses of `bawn call`, beside `kOwnFailure` and those for signals.
enum class CallExit : int {
  Done = 0,    ///< the tool did its work; a command ran to its end, whatever its own status was
  Failed = 1,  ///< the tool failed, or its command did not run or not to its end
  Usage = kWrongCallWords,
  NeedsAnswer = 3,
  TimedOut = kTimedOut,
};

/// What a call came to.
struct CallAnswer {
  contract::Outcome outcome{};
  std::optional<contract::Elicitation> question{};  ///< the first one that no answer was given to
};

/// Calls `tool` once. A question beyond the given answers is answered with Cancel.
///
/// Blocking: until the tool is done or `context` ends.
/// Errors: an output schema that cannot be compiled. The tool's own failure, and a result that
/// breaks the tool's promise, are in the outcome.
[[nodiscard]] contract::Result<CallAnswer> run_call(const contract::ToolPtr& tool,
                                                    const contract::Context& context,
                                                    const CallWords& words);

/// What goes to the standard streams, and the exit status. Texts end with a line end.
struct Printed {
  std::string out{};
  std::string err{};
  CallExit status = CallExit::Done;
};

/// A question as JSON; the result's text, or all of it as JSON; an error as "Error: " and its
/// sentence. A line on standard error where nothing confined the call.
[[nodiscard]] Printed print_call(const CallAnswer& answer, bool json);

}  // namespace bawn::cli
