#include "bawn/contract/output_check.hpp"

#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/properties.hpp"
#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

namespace bawn::contract {
namespace {

std::unexpected<Error> invalid_output(std::string_view problem) {
  return std::unexpected(Error(ErrorCode::Internal, fmt::format("invalid output: {}", problem))
                             .with_payload(CallProblem::InvalidOutput));
}

}  // namespace

Result<OutputCheck> OutputCheck::of(const Tool& tool) {
  OutputCheck check;
  if (const auto& text = output_schema_of(tool)) {
    auto schema = JsonSchema::compile_text(*text);
    if (!schema) {
      return std::unexpected(schema.error().wrap(
          fmt::format("tool {}: output schema", quote(tool.definition().name))));
    }
    check.schema_ = *std::move(schema);
  }
  return check;
}

Result<> OutputCheck::check(const Outcome& outcome) const {
  if (!schema_ || outcome.error) {
    return {};
  }
  if (!outcome.result.structured) {
    return invalid_output("the promised structure is missing");
  }
  if (const auto fits = schema_->validate(*outcome.result.structured); !fits) {
    return invalid_output(fits.error().message());
  }
  return {};
}

}  // namespace bawn::contract
