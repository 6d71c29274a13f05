/// \file
/// From the words behind `bawn call TOOL` to a call's arguments, by the tool's own input schema.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/tool_info.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bawn::cli {

/// What the words ask for.
struct CallWords {
  bool help = false;
  bool json = false;                      ///< print the whole result as JSON
  std::vector<contract::Json> answers{};  ///< to the tool's questions, in order
  contract::Json arguments = contract::Json::object();
};

/// One argument of a tool as a flag shows it.
struct Flag {
  std::string property{};   ///< "timeout_ms"
  std::string name{};       ///< "--timeout-ms"
  std::string type{};       ///< "boolean", "integer", "number", "string", "array" or "json"
  std::string item_type{};  ///< of an array
  std::string description{};
  std::vector<contract::Json> choices{};  ///< the only values that there are; empty: any
  contract::Json preset{};                ///< its value when it is left out; null when not stated
  bool required = false;
  bool positional = false;
};

/// The flags of a tool in the order of its schema. A property whose name the command line keeps for
/// itself (help, json, arguments, answer) has none.
[[nodiscard]] std::vector<Flag> flags_of(const contract::ToolInfo& tool);

/// Reads `--name VALUE`, `--name=VALUE`, `--flag`, `--no-flag`, an array's flag once for each item,
/// positional words as the tool's presentation names them (an array takes all that are left), and
/// `--arguments JSON` with all of them at once. Values are checked no further: that is the tool's.
///
/// Errors: InvalidArgument, one sentence that names the word and what would be right.
[[nodiscard]] contract::Result<CallWords> read_call_words(const contract::ToolInfo& tool,
                                                          const std::vector<std::string>& words);

}  // namespace bawn::cli
