#include "raw_json.hpp"

#include "bawn/contract/json.hpp"
#include "bawn/contract/json_plain.hpp"

namespace bawn::mcp {
namespace {

/// A cursor over text that may break off anywhere.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }

  void skip_space() {
    const auto next = text_.find_first_not_of(" \t\r\n", position_);
    position_ = next == std::string_view::npos ? text_.size() : next;
  }

  /// Takes `wanted` when it is next, after white space.
  bool take(char wanted) {
    skip_space();
    if (at_end() || text_[position_] != wanted) {
      return false;
    }
    ++position_;
    return true;
  }

  /// The inside of the string that is next; none when there is none or it has no end.
  std::optional<std::string_view> string() {
    if (!take('"')) {
      return std::nullopt;
    }
    const std::size_t begin = position_;
    position_ += contract::json_string_size(text_.substr(begin));
    if (at_end()) {
      return std::nullopt;
    }
    return text_.substr(begin, position_++ - begin);
  }

  /// The text of the value that is next; none when it has no end.
  std::optional<std::string_view> value() {
    skip_space();
    const std::size_t begin = position_;
    std::size_t depth = 0;
    while (!at_end()) {
      switch (text_[position_]) {
        case '"':
          if (!string()) {
            return std::nullopt;
          }
          break;
        case '{':
        case '[':
          ++depth;
          ++position_;
          break;
        case '}':
        case ']':
          if (depth > 0) {
            --depth;
            ++position_;
          }
          break;
        default:
          skip_scalar();
      }
      if (depth == 0) {
        return whole_value(begin);
      }
    }
    return std::nullopt;
  }

 private:
  /// The value from `begin` to here; none for a number or word that the end of the text may cut.
  [[nodiscard]] std::optional<std::string_view> whole_value(std::size_t begin) const {
    const auto value = text_.substr(begin, position_ - begin);
    const bool closed = value.ends_with('"') || value.ends_with('}') || value.ends_with(']');
    return value.empty() || (at_end() && !closed) ? std::nullopt : std::optional(value);
  }

  /// Moves behind a literal or number, or, inside a container, behind separators as well.
  void skip_scalar() {
    const auto first = text_[position_];
    if (first == ',' || first == ':' || first == ' ' || first == '\t' || first == '\r' ||
        first == '\n') {
      ++position_;
      return;
    }
    const auto next = text_.find_first_of("\"{}[],: \t\r\n", position_);
    position_ = next == std::string_view::npos ? text_.size() : next;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

bool same_name(std::string_view raw, std::string_view name) {
  if (raw.find('\\') == std::string_view::npos) {
    return raw == name;
  }
  const auto decoded = contract::parse_json('"' + std::string(raw) + '"');
  return decoded && decoded->is_string() && decoded->get_ref<const std::string&>() == name;
}

/// Calls `visit(name, value)` for each member of the object that `text` begins.
template <class Visit>
void visit_members(std::string_view text, Visit&& visit) {
  Cursor cursor(text);
  if (!cursor.take('{')) {
    return;
  }
  do {
    const auto name = cursor.string();
    if (!name || !cursor.take(':')) {
      return;
    }
    const auto value = cursor.value();
    if (!value) {
      return;
    }
    visit(*name, *value);
  } while (cursor.take(','));
}

}  // namespace

std::optional<std::string_view> RawObject::find(std::string_view name) const {
  for (const Member& member : members_) {
    if (same_name(member.name, name)) {
      return member.value;
    }
  }
  return std::nullopt;
}

RawObject raw_members(std::string_view text) {
  RawObject object;
  visit_members(text, [&](auto name, auto value) { object.add(name, value); });
  return object;
}

RawMessage raw_message(std::string_view text) {
  RawMessage message{.members = raw_members(text), .params = {}};
  if (const auto params = message.members.find("params")) {
    message.params = raw_members(*params);
  }
  return message;
}

std::optional<std::string> string_of(std::string_view value) {
  if (!is_raw_string(value) || value.size() < 2) {
    return std::nullopt;
  }
  const std::string_view inside = value.substr(1, value.size() - 2);
  if (inside.find('\\') == std::string_view::npos) {
    return std::string(inside);
  }
  const auto decoded = contract::parse_json(value);
  return decoded ? std::optional(decoded->get<std::string>()) : std::nullopt;
}

std::vector<std::string_view> raw_elements(std::string_view text) {
  std::vector<std::string_view> elements;
  Cursor cursor(text);
  if (!cursor.take('[')) {
    return elements;
  }
  do {
    const auto value = cursor.value();
    if (!value) {
      break;
    }
    elements.push_back(*value);
  } while (cursor.take(','));
  return elements;
}

std::size_t count_values(std::string_view text) noexcept {
  std::size_t count = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    in_string = c == '"';
    count += c == ',' || c == '[' || c == '{' ? 1U : 0U;
  }
  return count;
}

}  // namespace bawn::mcp
