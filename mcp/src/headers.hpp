/// \file
/// The headers that a modern HTTP request mirrors from its body.
/// Source: MCP 2026-07-28, streamable HTTP, standard and custom headers.
#pragma once

#include "catalog.hpp"
#include "era.hpp"
#include "raw_json.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// The value that a header stands for: trimmed, and decoded when it is `=?base64?…?=`. None for
/// wrong base64 or text that is no UTF-8.
[[nodiscard]] std::optional<std::string> decode_header(std::string_view value);

/// The header value that stands for `value`; encoded when it could not travel, or would be read
/// differently, as it is.
[[nodiscard]] std::string encode_header(std::string_view value);

/// Standard base64, strictly: with padding, no other characters, no stray bits.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);
[[nodiscard]] std::string encode_base64(std::string_view bytes);

/// The text by which a header mirrors a property's value; none for null, objects and arrays.
[[nodiscard]] std::optional<std::string> mirrored_text(const contract::Json& value);

/// `Mcp-Method` and `Mcp-Name` against the body; the sentence of the mismatch if there is one.
[[nodiscard]] std::optional<std::string> header_mismatch(std::string_view method,
                                                         const RawObject& params,
                                                         const HttpFacts& http);

/// `Mcp-Param-*` against the arguments of a call.
[[nodiscard]] std::optional<std::string> parameter_mismatch(const CatalogEntry& entry,
                                                            std::string_view arguments,
                                                            const HttpFacts& http);

}  // namespace bawn::mcp
