/// \file
/// Finding members of JSON text without rewriting it: arguments must reach a tool byte for byte,
/// and an id should be found even in text that turns out to be broken further on.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// Called with a member's name (still escaped, without quotes) and its value's text. Return false
/// to stop.
using MemberVisitor = std::function<bool(std::string_view name, std::string_view value)>;

/// Walks the members of the object at the start of `text`, in order, as far as the text makes
/// sense; text that breaks off ends the walk. Nothing is validated beyond what finding the ends
/// needs, so decide by a strict reader first and use this for the positions.
void visit_members(std::string_view text, const MemberVisitor& visit);

/// The text of the member `name` of the object `text`; none when there is none. Two spellings of
/// one name (escapes) are the same name.
[[nodiscard]] std::optional<std::string_view> raw_member(std::string_view text,
                                                         std::string_view name);

/// The texts of the elements of the array at the start of `text`.
[[nodiscard]] std::vector<std::string_view> raw_elements(std::string_view text);

/// An upper bound of the values in `text`: the structural characters outside strings, plus one.
[[nodiscard]] std::size_t count_values(std::string_view text) noexcept;

}  // namespace bawn::mcp
