/// \file
/// Whether what a tool gave is what it promised: the duty of whoever sends results on (C-67,
/// C-200). The tool itself never looks at its own output.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json_schema.hpp"
#include "bawn/contract/result.hpp"
#include "bawn/contract/tool.hpp"

#include <optional>

namespace bawn::contract {

/// A tool's output schema, compiled once.
///
/// Threads: thread-safe (immutable).
class OutputCheck {
 public:
  /// Errors: InvalidArgument, naming the tool, for a schema that cannot be compiled.
  [[nodiscard]] static Result<OutputCheck> of(const Tool& tool);

  /// Passes everything when the tool promises no structure, and failed outcomes.
  ///
  /// Errors: Internal with CallProblem::InvalidOutput: no structure where one was promised, or one
  /// that does not conform.
  [[nodiscard]] Result<> check(const Outcome& outcome) const;

 private:
  std::optional<JsonSchema> schema_;
};

}  // namespace bawn::contract
