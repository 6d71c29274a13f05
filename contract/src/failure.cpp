#include "bawn/contract/failure.hpp"

#include "bawn/contract/call_problem.hpp"

#include <utility>

namespace bawn::contract {

Error tool_error(std::string message) {
  return Error(ErrorCode::ToolFailed, message)
      .with_payload(ApprovedFailure{.message = std::move(message)});
}

Error tool_failure(std::string code, std::string message, std::optional<Json> details) {
  const Error error(ErrorCode::ToolFailed, message);
  if (code.empty() || (details && !details->is_object())) {
    return error;
  }
  return error.with_payload(ApprovedFailure{
      .code = std::move(code), .message = std::move(message), .details = std::move(details)});
}

std::optional<ApprovedFailure> approved_failure(const Error& error) {
  if (call_problem(error)) {
    return std::nullopt;
  }
  const auto* const approved = error.find<ApprovedFailure>();
  return approved != nullptr ? std::optional(*approved) : std::nullopt;
}

std::string disclosed_text(const Error& error, ErrorDisclosure disclosure) {
  if (disclosure == ErrorDisclosure::Full) {
    return error.message();
  }
  if (const auto approved = approved_failure(error)) {
    return approved->message;
  }
  // The prefix is the contract's word for the caller's own mistakes (C-49), whoever says it.
  if (error.message().starts_with("invalid arguments:")) {
    return error.message();
  }
  const auto problem = call_problem(error);
  return problem == CallProblem::Unavailable ? "the tool is not available" : "the tool failed";
}

Result<Error> make_failure(FailureKind kind, ToolResult output, std::optional<Error> cause) {
  if (kind == FailureKind::Failed && !cause) {
    return fail(ErrorCode::InvalidArgument, "a failure of kind \"failed\" needs a cause");
  }
  const bool rejected = kind == FailureKind::Rejected;
  std::string text = output_text(output);
  if (text.empty()) {
    text = rejected ? "tool: rejected" : "tool: failed";
  }
  Error error = Error(rejected ? ErrorCode::PermissionDenied : ErrorCode::ToolFailed, text)
                    .with_payload(Failure{.kind = kind, .output = std::move(output)});
  return cause ? error.with_hidden_cause(*std::move(cause)) : error;
}

Error with_evidence(const Error& cause, ToolResult output) {
  return Error(cause.code(), cause.message())
      .with_cause(cause)
      .with_payload(Evidence{std::move(output)});
}

}  // namespace bawn::contract
