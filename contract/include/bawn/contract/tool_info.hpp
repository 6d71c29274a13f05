/// \file
/// A detached report on a tool, for those who list and present tools (C-13).
#pragma once

#include "bawn/contract/cli_info.hpp"
#include "bawn/contract/properties.hpp"
#include "bawn/contract/tool.hpp"

#include <optional>
#include <string>

namespace bawn::contract {

/// Everything in here is a copy: changing it changes no tool.
struct ToolInfo {
  std::string name{};
  std::string description{};
  std::string input_schema{};                  ///< JSON Schema text of an object
  std::optional<std::string> output_schema{};  ///< of the structured output, when one is promised
  std::optional<Annotations> annotations{};
  std::optional<CliInfo> cli{};
};

/// Runs neither the tool nor its availability.
[[nodiscard]] ToolInfo describe_tool(const Tool& tool);

}  // namespace bawn::contract
