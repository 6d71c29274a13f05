/// \file
/// JSON as slices of its text. Arguments must reach a tool byte for byte, and building a tree of a
/// message costs ten times what finding its few members does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// The members of one JSON object, in order, pointing into its text.
class RawObject {
 public:
  /// `name` as it stands between its quotes.
  void add(std::string_view name, std::string_view value) { members_.push_back({name, value}); }
  /// The text of a member's value; none when there is no such member.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name).has_value(); }

 private:
  struct Member {
    std::string_view name;
    std::string_view value;
  };
  std::vector<Member> members_;
};

/// A message's members, and those of its `params` when that is an object.
struct RawMessage {
  RawObject members;
  RawObject params;
};

/// Reads a message that is plainly strict JSON (RFC 7493): one object, valid UTF-8, no member
/// twice, no more levels than contract::kMaxJsonDepth, no more values than `max_values`.
///
/// None does not mean that it is wrong: rare things (escapes in names, escaped surrogates,
/// exponents, objects of many members) are left to contract::parse_json(), which decides then.
[[nodiscard]] std::optional<RawMessage> scan_message(std::string_view text, std::size_t max_values);

/// The members of the object that `text` begins, as far as it makes sense: of text that a strict
/// reader has accepted, all of them; text that breaks off or is wrong gives those before the fault.
[[nodiscard]] RawObject raw_members(std::string_view text);

/// As raw_members(), with the members of `params`.
[[nodiscard]] RawMessage raw_message(std::string_view text);

/// The texts of the elements of the array at the start of `text`, which a strict reader accepted.
[[nodiscard]] std::vector<std::string_view> raw_elements(std::string_view text);

/// An upper bound of the values in `text`: the structural characters outside strings, plus one.
[[nodiscard]] std::size_t count_values(std::string_view text) noexcept;

/// What a value's text is, by its first byte.
[[nodiscard]] inline bool is_raw_object(std::string_view value) noexcept {
  return value.starts_with('{');
}
[[nodiscard]] inline bool is_raw_string(std::string_view value) noexcept {
  return value.starts_with('"');
}
/// The string that the text of a strict JSON string stands for; none for another value.
[[nodiscard]] std::optional<std::string> string_of(std::string_view value);

}  // namespace bawn::mcp
