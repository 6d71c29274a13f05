/// \file
/// Values as JSON Schema sees them: numbers are compared by what they are, not by how they are
/// held.
#pragma once

#include "bawn/contract/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace bawn::contract::detail {

/// Every number that Json holds, exactly: 64-bit integers of both kinds and doubles. Json's own
/// comparison turns an unsigned integer into a signed one.
[[nodiscard]] long double exactly(const Json& number);

/// True for a number without a fraction, 1.0 among them.
[[nodiscard]] bool is_whole(const Json& value);

/// True when `value` is a multiple of the positive `factor`, both as they are written in decimal:
/// 0.3 is one of 0.1, though not as doubles.
[[nodiscard]] bool is_multiple(const Json& value, const Json& factor);

/// 1 equals 1.0, and the order of members has no meaning.
[[nodiscard]] bool json_equal(const Json& left, const Json& right);

/// What it costs to compare the value with another one, in steps of an evaluation.
[[nodiscard]] std::size_t weight(const Json& value);

/// The value as a problem names it; of a long string its start, of a container only what it is.
[[nodiscard]] std::string shown(const Json& value);

/// The same with what a container holds: where its kind alone would not tell two values apart. Of a
/// long one the start.
[[nodiscard]] std::string shown_whole(const Json& value);

/// The values so, in brackets; of many the first ones.
[[nodiscard]] std::string shown_list(const Json& values);

/// "expected <wanted>, got <value>", for a value that is not the wanted one.
[[nodiscard]] std::string shown_difference(const Json& wanted, const Json& value);

/// A word for one thing and for several.
struct Noun {
  std::string_view one;
  std::string_view many;
};

/// "1 item" or "2 items"; the number as somebody would write it.
[[nodiscard]] std::string counted(const Json& number, Noun noun);

}  // namespace bawn::contract::detail
