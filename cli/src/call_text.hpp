/// \file
/// What `bawn call` prints: help made from a tool's description, results, questions.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/result.hpp"
#include "bawn/contract/tool_info.hpp"

#include <string>
#include <vector>

namespace bawn::cli {

/// One line for each tool: its name and the first sentence of its description.
[[nodiscard]] std::string list_text(const std::vector<contract::ToolInfo>& tools);

/// Usage line, description, arguments and examples of one tool.
[[nodiscard]] std::string help_text(const contract::ToolInfo& tool);

/// The result for programs: output, structured, confinement and error, each when there is one.
[[nodiscard]] contract::Json outcome_json(const contract::Outcome& outcome);

/// The question for programs: id, message, schema, url, each when there is one.
[[nodiscard]] contract::Json question_json(const contract::Elicitation& question);

/// One line for standard error where a policy with a wall does not confine; else empty.
[[nodiscard]] std::string unconfined_line(const contract::Confinement& confinement);

}  // namespace bawn::cli
