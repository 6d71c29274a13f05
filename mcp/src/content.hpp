/// \file
/// A tool's output as MCP content blocks.
#pragma once

#include "bawn/contract/result.hpp"
#include "json_rpc.hpp"
#include "protocol.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// The content array of a result in parts: they map one to one, and a part of a kind that MCP has
/// no block for becomes the text of its JSON. What the receiver's revision does not know is written
/// as text.
[[nodiscard]] Json content_of(const std::vector<contract::Part>& parts,
                              const WireFeatures& features);

/// One text block.
[[nodiscard]] Json text_block(std::string text);

/// True for standard base64 with padding.
[[nodiscard]] bool is_base64(std::string_view text) noexcept;

}  // namespace bawn::mcp
