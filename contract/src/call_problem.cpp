#include "bawn/contract/call_problem.hpp"

#include "bawn/contract/failure.hpp"
#include "bawn/contract/validate.hpp"

namespace bawn::contract {

std::string_view to_string(CallProblem problem) noexcept {
  switch (problem) {
    case CallProblem::InvalidTool:
      return "invalid tool";
    case CallProblem::Unavailable:
      return "unavailable";
    case CallProblem::Availability:
      return "availability";
    case CallProblem::InvalidInput:
      return "invalid input";
    case CallProblem::ArgumentCheck:
      return "input schema";
    case CallProblem::InvalidOutput:
      break;
  }
  return "invalid output";
}

std::optional<CallProblem> call_problem(const Error& error) {
  const std::any& payload = error.payload();
  if (const auto* const problem = std::any_cast<CallProblem>(&payload)) {
    return *problem;
  }
  if (std::any_cast<ValidationProblem>(&payload) != nullptr) {
    return CallProblem::InvalidInput;
  }
  if (std::any_cast<ApprovedFailure>(&payload) != nullptr) {
    return std::nullopt;
  }
  for (const Error& cause : error.causes()) {
    if (const auto problem = call_problem(cause)) {
      return problem;
    }
  }
  return std::nullopt;
}

Error violation(std::string message) {
  return Error(ErrorCode::InvalidArgument, std::move(message))
      .with_payload(CallProblem::InvalidInput);
}

Error classified(CallProblem problem, std::string message, const Error& cause) {
  return Error(cause.code(), std::move(message)).with_cause(cause).with_payload(problem);
}

}  // namespace bawn::contract
