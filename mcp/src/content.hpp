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

/// The text with its control characters (C0 but for tab and line ends, DEL, C1) written as `\xNN`:
/// hosts print results on terminals, which would obey them. The structure keeps them as they are.
[[nodiscard]] std::string visible_text(std::string_view text);
/// Whether that is the text itself.
[[nodiscard]] bool is_visible(std::string_view text) noexcept;

}  // namespace bawn::mcp
