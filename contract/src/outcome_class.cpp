#include "bawn/contract/outcome_class.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

namespace bawn::contract {
namespace {

/// The payload that marks an unknown outcome.
struct UnknownOutcome {};

}  // namespace

Error as_unknown_outcome(const Error& error) {
  return Error(error.code(), error.message()).with_cause(error).with_payload(UnknownOutcome());
}

OutcomeClass outcome_class(const Error& error) {
  return error.find<UnknownOutcome>() != nullptr ? OutcomeClass::Unknown : OutcomeClass::Known;
}

Safety safety_of(const std::optional<Annotations>& hints, bool trusted,
                 std::optional<Safety> stated) noexcept {
  if (stated) {
    return *stated;
  }
  if (!hints || !trusted) {
    return Safety::SideEffect;
  }
  if (hints->read_only) {
    return Safety::ReadOnly;
  }
  return hints->idempotent ? Safety::Idempotent : Safety::SideEffect;
}

Settlement settle(const Error& error, Safety safety) {
  const bool lost = outcome_class(error) == OutcomeClass::Unknown;
  return lost && safety == Safety::SideEffect ? Settlement::Halt : Settlement::Failure;
}

Rerun rerun_of(Replay replay) noexcept {
  switch (replay) {
    case Replay::Safe:
      return Rerun::Allowed;
    case Replay::Keyed:
      return Rerun::WithFirstKey;
    case Replay::Unknown:
      break;
  }
  return Rerun::Forbidden;
}

Error outcome_unknown_error(std::string_view tool) {
  return as_unknown_outcome(
      Error(ErrorCode::Internal,
            fmt::format("the outcome of this call of tool {} is unknown: it may have taken effect, "
                        "and it was not run again",
                        quote(tool))));
}

}  // namespace bawn::contract
