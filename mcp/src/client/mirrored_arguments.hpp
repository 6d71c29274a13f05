/// \file
/// Arguments that a client repeats in `Mcp-Param-*` headers (`x-mcp-header` in an input schema).
/// Source: MCP 2026-07-28, streamable HTTP, custom headers.
#pragma once

#include "bawn/contract/error.hpp"
#include "json_rpc.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bawn::mcp {

struct MirroredArgument {
  std::vector<std::string> path;  ///< names of properties, from the outermost
  std::string header;             ///< with `Mcp-Param-`
};

/// Those that `schema` marks.
///
/// Errors: ToolFailed for a mark that no client can follow: a name that is empty, no token or
/// there twice, a property that is no string, integer or boolean, or one that `properties` alone
/// do not reach.
[[nodiscard]] contract::Result<std::vector<MirroredArgument>> mirrored_arguments(
    const Json& schema);

/// Header names and plain values for a call with `arguments`. What is null or absent has none.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> mirrored_values(
    const std::vector<MirroredArgument>& mirrored, const Json& arguments);

}  // namespace bawn::mcp
