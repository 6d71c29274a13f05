/// \file
/// How a tool presents itself on a command line (C-220). Presentation only: it renames nothing,
/// grants nothing and installs nothing.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::contract {

/// Arguments worth showing; never run.
struct CliExample {
  std::string description{};  ///< what it is for
  std::string input{};        ///< JSON text of an object

  bool operator==(const CliExample&) const = default;
};

struct CliInfo {
  std::string group{};      ///< the command's namespace; 1 to 128 of A-Z a-z 0-9 _ . -
  std::string operation{};  ///< the command within it; the same characters
  std::string summary{};    ///< of the group; may be empty
  /// What a diagnostic tool is about: "identity", "health", "routes", "traces", "trace", "logs",
  /// "metrics", or nothing.
  std::string role{};
  bool cursor = false;  ///< more is had by calling again with the cursor that the result names
  std::vector<std::string> positional{};  ///< arguments that are given without their name, in order
  std::vector<CliExample> examples{};

  bool operator==(const CliInfo&) const = default;
};

/// `{"group":…,"operation":…}`, then summary, role, cursor, positional and examples, each only when
/// it says something.
[[nodiscard]] Json to_json(const CliInfo& info);

/// Decodes an example's text as strictly as the tool's own arguments; runs neither rules nor the
/// tool.
using ExampleDecoder = std::function<Result<>(std::string_view input)>;

/// Checks a declaration against the input schema that the tool serves. Without `decode` an example
/// need only be a JSON object.
///
/// Errors: InvalidArgument, "cli: …", for the first defect: an empty or bad group or operation, an
/// unknown role, a positional name that is repeated or that the schema lacks, a bad example.
[[nodiscard]] Result<> check_cli_info(const CliInfo& info, const Json& input_schema,
                                      const ExampleDecoder& decode = {});

/// True for 1 to 128 of A-Z a-z 0-9 _ . -, the grammar of names at protocol edges.
[[nodiscard]] bool is_protocol_name(std::string_view name) noexcept;

}  // namespace bawn::contract
