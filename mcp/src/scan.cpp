#include "bawn/contract/json.hpp"
#include "bawn/contract/json_plain.hpp"
#include "raw_json.hpp"
#include "utf8.hpp"

#include <array>
#include <cctype>
#include <cstdint>

namespace bawn::mcp {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// A strict reader in one pass that gives up on whatever is wrong or rare. Its functions return
/// false to give up. Recursion is bounded by kMaxJsonDepth.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t max_values) : text_(text), values_left_(max_values) {}

  bool message(RawMessage& message) {
    skip_space();
    const bool read = next() == '{' && object(&message.members, &message.params);
    skip_space();
    return read && position_ == text_.size();
  }

 private:
  // Members beyond these make checking for doubles by comparison slow. The output schema of a call
  // of the shell has about thirty.
  static constexpr std::size_t kCompared = 48;
  // A number of this length cannot overflow a double.
  static constexpr std::size_t kShortNumber = 64;

  [[nodiscard]] char next() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  void skip_space() {
    while (next() == ' ' || next() == '\t' || next() == '\r' || next() == '\n') {
      ++position_;
    }
  }

  bool take(char wanted) {
    skip_space();
    const bool found = next() == wanted;
    position_ += found ? 1U : 0U;
    return found;
  }

  /// `members` and `params` receive the members of this object and of its member `params`.
  bool object(RawObject* members, RawObject* params) {
    ++position_;
    if (take('}')) {
      return true;
    }
    std::array<std::string_view, kCompared> names;
    for (std::size_t count = 0; count < kCompared; ++count) {
      skip_space();
      const std::size_t name_begin = position_ + 1;
      if (next() != '"' || !string(false)) {
        return false;
      }
      const auto name = text_.substr(name_begin, position_ - 1 - name_begin);
      for (std::size_t i = 0; i < count; ++i) {
        if (names[i] == name) {
          return false;
        }
      }
      names[count] = name;
      if (!take(':')) {
        return false;
      }
      skip_space();
      const std::size_t begin = position_;
      if (!value(params != nullptr && name == "params" ? params : nullptr)) {
        return false;
      }
      if (members != nullptr) {
        members->add(name, text_.substr(begin, position_ - begin));
      }
      if (take('}')) {
        return true;
      }
      if (!take(',')) {
        return false;
      }
    }
    return false;
  }

  bool array() {
    ++position_;
    if (take(']')) {
      return true;
    }
    while (value(nullptr)) {
      if (take(']')) {
        return true;
      }
      if (!take(',')) {
        return false;
      }
    }
    return false;
  }

  bool value(RawObject* members) {
    skip_space();
    if (values_left_-- == 0) {
      return false;
    }
    switch (next()) {
      case '"':
        return string(true);
      case '{':
      case '[':
        return container(members);
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool container(RawObject* members) {
    if (++depth_ > contract::kMaxJsonDepth) {
      return false;
    }
    const bool read = next() == '{' ? object(members, nullptr) : array();
    --depth_;
    return read;
  }

  bool string(bool escapes_allowed) {
    ++position_;
    while (true) {
      position_ += contract::plain_json_length(text_.substr(position_));
      if (position_ >= text_.size()) {
        return false;
      }
      const auto byte = static_cast<std::uint8_t>(text_[position_]);
      if (byte == '"') {
        ++position_;
        return true;
      }
      if (byte == '\\') {
        if (!escapes_allowed || !escape()) {
          return false;
        }
        continue;
      }
      const std::size_t length = byte < 0x20 ? 0 : utf8_length(text_.substr(position_));
      if (length == 0) {
        return false;
      }
      position_ += length;
    }
  }

  bool escape() {
    ++position_;
    if (next() != 'u') {
      constexpr std::string_view kEscapes = "\"\\/bfnrt";
      const bool known = kEscapes.find(next()) != std::string_view::npos;
      ++position_;
      return known;
    }
    const std::string_view digits = text_.substr(position_, 5).substr(1);
    // \ud… may be half of a pair.
    if (digits.size() != 4 || digits[0] == 'd' || digits[0] == 'D') {
      return false;
    }
    for (const char digit : digits) {
      if (!is_hex(digit)) {
        return false;
      }
    }
    position_ += 5;
    return true;
  }

  bool word(std::string_view expected) {
    const bool found = text_.substr(position_).starts_with(expected);
    position_ += expected.size();
    return found;
  }

  bool number() {
    const std::size_t begin = position_;
    position_ += next() == '-' ? 1U : 0U;
    const bool zero = next() == '0';
    if (!digits() || (zero && position_ > begin + (text_[begin] == '-' ? 2U : 1U))) {
      return false;
    }
    if (next() == '.') {
      ++position_;
      if (!digits()) {
        return false;
      }
    }
    return next() != 'e' && next() != 'E' && position_ - begin <= kShortNumber;
  }

  bool digits() {
    const std::size_t begin = position_;
    while (is_digit(next())) {
      ++position_;
    }
    return position_ > begin;
  }

  const std::string_view text_;
  std::size_t values_left_;
  std::size_t position_ = 0;
  std::size_t depth_ = 1;
};

}  // namespace

std::optional<RawMessage> scan_message(std::string_view text, std::size_t max_values) {
  std::optional<RawMessage> message(std::in_place);
  if (!Scanner(text, max_values).message(*message)) {
    message.reset();
  }
  return message;
}

}  // namespace bawn::mcp
