/// \file
/// RFC 8785 canonical JSON and SHA-256.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <string>
#include <string_view>

namespace bawn::contract {

/// The canonical text: members by UTF-16 code units, no blanks, numbers as ECMAScript prints the
/// nearest double (so 9007199254740993 becomes 9007199254740992).
///
/// Errors: InvalidArgument for a number that is not finite, for text that is not UTF-8 and for
/// nesting deeper than kMaxJsonDepth.
/// Threads: thread-safe.
/// Source: RFC 8785.
[[nodiscard]] Result<std::string> canonical_json(const Json& value);

/// A finite double as ECMAScript prints it: "1e+21", "0.000001", "1e-7"; -0 is "0".
[[nodiscard]] std::string canonical_number(double value);

/// The digest in lowercase hexadecimal, 64 characters. Source: FIPS 180-4.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace bawn::contract
