/// \file
/// A JSON document that keeps each number as it was written. Arguments are validated and decoded
/// from it, so that a message can quote `1.50e3` and a 64-bit integer is never rounded.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::contract {

/// One value of the document. A plain struct: only the members that `kind` names have a meaning.
struct JsonNode {
  enum class Kind { Null, Boolean, Number, String, Array, Object };

  Kind kind = Kind::Null;
  bool boolean = false;
  double number = 0;   ///< the nearest double; `text` has all digits
  std::string text{};  ///< the string's value, or the number's literal as written
  std::vector<JsonNode> items{};
  std::vector<std::pair<std::string, JsonNode>> members{};  ///< in written order, names are unique

  /// The member's value, or null. Linear in the number of members.
  [[nodiscard]] const JsonNode* find(std::string_view name) const noexcept;
};

/// Reads one document by the rules of `parse_json`.
///
/// Errors: InvalidArgument, "not valid JSON: …".
/// Threads: thread-safe.
[[nodiscard]] Result<JsonNode> parse_json_node(std::string_view text);

/// Reads a call's arguments: empty text or blanks are `{}` (C-41).
///
/// Errors: InvalidArgument, "invalid arguments: not valid JSON: …".
[[nodiscard]] Result<JsonNode> parse_arguments(std::string_view args);

/// The same document as a Json. Integers beyond 64 bits become doubles.
[[nodiscard]] Json to_json(const JsonNode& node);

/// The value as a message names it (C-45): `null`, `true`, a quoted string, a number as written,
/// or the word `object` or `array`. Beyond 256 bytes only the start is shown, with the size.
[[nodiscard]] std::string describe(const JsonNode& node);

}  // namespace bawn::contract
