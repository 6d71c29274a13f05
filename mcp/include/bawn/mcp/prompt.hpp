/// \file
/// Prompts: texts that a host offers its user by name.
/// Source: MCP, server features, prompts.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

struct PromptArgument {
  std::string name{};
  std::string description{};
  bool required = false;
};

/// What a prompt expands to.
struct PromptMessages {
  std::string description{};               ///< may be empty
  std::vector<contract::Json> messages{};  ///< `{"role", "content"}` as MCP writes them
};

/// Threads: both functions are called from many threads at once.
struct Prompt {
  using Arguments = std::map<std::string, std::string>;

  std::string name{};
  std::string title{};  ///< may be empty
  std::string description{};
  std::vector<PromptArgument> arguments{};
  std::function<contract::Result<PromptMessages>(const contract::Context&, const Arguments&)> get{};
  /// Values for an argument that begin with `value`; may be empty.
  std::function<std::vector<std::string>(const contract::Context&, std::string_view argument,
                                         std::string_view value)>
      complete{};
};

}  // namespace bawn::mcp
