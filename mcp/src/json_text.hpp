/// \file
/// JSON written straight into a message's text. It reads the same as contract::dump_json() writes.
#pragma once

#include "bawn/contract/json.hpp"

#include <string>
#include <string_view>

namespace bawn::mcp {

/// Appends a JSON string; bytes that are not UTF-8 become U+FFFD.
void append_string(std::string& text, std::string_view value);

/// Appends any value.
void append_json(std::string& text, const contract::Json& value);

}  // namespace bawn::mcp
