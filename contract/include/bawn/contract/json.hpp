/// \file
/// JSON as the suite reads and writes it: strictly read (RFC 7493), never throwing, written with
/// bad UTF-8 replaced.
#pragma once

#include "bawn/contract/error.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace bawn::contract {

/// Objects keep the order in which their members were written.
using Json = nlohmann::ordered_json;

/// Nesting beyond this many levels is refused when reading.
inline constexpr std::size_t kMaxJsonDepth = 128;

/// Reads exactly one JSON document under RFC 7493: valid UTF-8, no duplicate members, no lone
/// surrogates, nothing behind the document, at most kMaxJsonDepth levels. Numbers beyond a double
/// are refused.
///
/// Errors: InvalidArgument, with the byte offset or the path in the sentence.
/// Threads: thread-safe.
[[nodiscard]] Result<Json> parse_json(std::string_view text);

/// Compact text; bytes that are not UTF-8 become U+FFFD. Never throws.
[[nodiscard]] std::string dump_json(const Json& value);

}  // namespace bawn::contract
