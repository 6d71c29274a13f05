/// \file
/// Failures of a call that are not the handler's own (C-108).
#pragma once

#include "bawn/contract/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bawn::contract {

/// What went wrong around the handler. The payload of such an error: it beats every approval that
/// is nested in its causes, so that a front shows none of them.
enum class CallProblem {
  InvalidTool,    ///< the declaration has a defect
  Unavailable,    ///< the availability policy said no
  Availability,   ///< the availability policy itself failed; private
  InvalidInput,   ///< the arguments are wrong; the sentence is for the caller
  ArgumentCheck,  ///< the check of the arguments failed to do its work; private
  InvalidOutput   ///< what the handler returned cannot be sent; private
};

/// The class's name in words: "invalid tool", "unavailable", "availability", "invalid input",
/// "input schema", "invalid output".
[[nodiscard]] std::string_view to_string(CallProblem problem) noexcept;

/// The class of an error: the outermost one among the error and its visible causes, unless a
/// handler's approval lies above it. A validation error is InvalidInput.
[[nodiscard]] std::optional<CallProblem> call_problem(const Error& error);

/// For an argument check: these arguments are wrong. The message is for the caller. Any other error
/// of a check means that the check itself failed.
[[nodiscard]] Error violation(std::string message);

/// The same failure as a member of a class; `cause` stays visible to programs.
[[nodiscard]] Error classified(CallProblem problem, std::string message, const Error& cause);

}  // namespace bawn::contract
