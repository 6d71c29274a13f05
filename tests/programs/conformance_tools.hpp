/// \file
/// The fixtures of the official MCP conformance suite: names, texts and shapes are the suite's.
#pragma once

#include "bawn/contract/resource.hpp"
#include "bawn/contract/tool.hpp"
#include "bawn/mcp/prompt.hpp"
#include "bawn/mcp/server.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace bawn::conformance {

/// For tools that tell the clients of changes: the server, once it exists.
struct ServerHolder {
  std::optional<mcp::Server> server;
};

/// A red pixel and an eighth of a second of silence, as base64.
inline constexpr const char* kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJg"
    "gg==";
inline constexpr const char* kWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

[[nodiscard]] std::vector<contract::ToolPtr> make_tools(
    const std::shared_ptr<ServerHolder>& holder);
[[nodiscard]] std::shared_ptr<const contract::ResourceProvider> make_resources();
[[nodiscard]] std::vector<mcp::Prompt> make_prompts();

}  // namespace bawn::conformance
