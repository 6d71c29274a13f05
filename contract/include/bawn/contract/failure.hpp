/// \file
/// Failures with a word to the model: what a handler approves for showing, and what stays private.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bawn::contract {

/// What a handler approved for the model. A payload; wrapping keeps it (C-106).
struct ApprovedFailure {
  std::string code{};             ///< a stable word for programs; empty for `tool_error`
  std::string message{};          ///< may be empty, and is then shown as the empty text
  std::optional<Json> details{};  ///< an object
};

/// A failure whose message may be shown as it is.
[[nodiscard]] Error tool_error(std::string message);

/// The same with a code and details. An empty code or details that are no object make an error
/// that is *not* approved, so that a mistake in the declaration shows nothing.
[[nodiscard]] Error tool_failure(std::string code, std::string message,
                                 std::optional<Json> details = {});

/// The approved part of an error or of its visible causes; none when nothing is approved, or when a
/// CallProblem stands above the approval: that failure is not the handler's (C-108).
[[nodiscard]] std::optional<ApprovedFailure> approved_failure(const Error& error);

/// How much of a failure a front shows.
enum class ErrorDisclosure {
  Full,          ///< the error's sentence
  ApprovedOnly,  ///< approved text and argument errors; anything else reads "the tool failed"
};

/// The text for the model, without "Error: " before it.
[[nodiscard]] std::string disclosed_text(const Error& error, ErrorDisclosure disclosure);

/// A definite unsuccessful outcome (C-102).
enum class FailureKind {
  Failed,    ///< the call failed; says nothing on whether it began
  Rejected,  ///< the call was not permitted to run
};

/// The payload of a definite failure.
struct Failure {
  FailureKind kind = FailureKind::Failed;
  ToolResult output{};  ///< public to the model
};

/// An error with a Failure. Its text is the output's, or "tool: failed" or "tool: rejected". The
/// cause is for diagnosis alone: `hidden_cause()`.
///
/// Errors: InvalidArgument for Failed without a cause.
[[nodiscard]] Result<Error> make_failure(FailureKind kind, ToolResult output,
                                         std::optional<Error> cause = {});

/// Output seen before an error, kept for diagnosis: no result, no outcome, no retry meaning
/// (C-103).
struct Evidence {
  ToolResult output{};
};

/// The same error with what was seen. The cause stays visible. Read it with `find<Evidence>()`.
[[nodiscard]] Error with_evidence(const Error& cause, ToolResult output);

}  // namespace bawn::contract
