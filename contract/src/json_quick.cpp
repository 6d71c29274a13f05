#include "json_quick.hpp"

#include "bawn/contract/json_plain.hpp"
#include "utf8.hpp"

namespace bawn::contract::detail {
namespace {

constexpr std::size_t kMostDigits = 18;  // any such number fits 64 bits

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& text, char32_t point) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | (point >> 6));
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | (point >> 12));
    add(0x80 | ((point >> 6) & 0x3F));
    add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | (point >> 18));
    add(0x80 | ((point >> 12) & 0x3F));
    add(0x80 | ((point >> 6) & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

}  // namespace

char QuickLexer::peek() noexcept {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      return c;
    }
    ++at_;
  }
  return '\0';
}

bool QuickLexer::at_end() noexcept {
  static_cast<void>(peek());
  return at_ >= text_.size();
}

bool QuickLexer::word(std::string_view word) noexcept {
  const bool found = text_.substr(at_).starts_with(word);
  at_ += found ? word.size() : 0;
  return found;
}

bool QuickLexer::integer(Integer& number) noexcept {
  number = {.value = 0, .negative = text_.substr(at_).starts_with('-')};
  at_ += number.negative ? 1 : 0;
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_digit(text_[at_]) && at_ - begin < kMostDigits) {
    number.value = number.value * 10 + (text_[at_++] - '0');
  }
  const std::size_t digits = at_ - begin;
  const bool leading_zero = digits > 0 && text_[begin] == '0' && (digits > 1 || number.negative);
  const char next = at_ < text_.size() ? text_[at_] : '\0';
  number.value = number.negative ? -number.value : number.value;
  return digits > 0 && !leading_zero && !is_digit(next) && next != '.' && next != 'e' &&
         next != 'E';
}

bool QuickLexer::string(std::string& value) {
  ++at_;
  value.clear();
  const std::string_view rest = text_.substr(at_);
  const std::size_t plain = plain_json_length(rest);
  if (plain < rest.size() && rest[plain] == '"') {
    value.assign(rest.substr(0, plain));
    at_ += plain + 1;
    return true;
  }
  // What is told of the size spares a long text its growth: at every doubling it would be copied.
  value.reserve(json_string_size(rest));
  while (at_ < text_.size()) {
    const std::string_view left = text_.substr(at_);
    const std::size_t length = plain_json_length(left);
    value += left.substr(0, length);
    at_ += length;
    if (at_ >= text_.size()) {
      return false;
    }
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c == '\\') {
      if (!escape(value)) {
        return false;
      }
      continue;
    }
    const std::size_t size =
        static_cast<unsigned char>(c) < 0x80 ? 0 : next_code_point(text_.substr(at_)).size;
    if (size == 0) {
      return false;
    }
    value += text_.substr(at_, size);
    at_ += size;
  }
  return false;
}

/// Stands on the backslash.
bool QuickLexer::escape(std::string& value) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  const char name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  at_ += 2;
  if (name != 'u') {
    const std::size_t known = name == '\0' ? std::string_view::npos : kNames.find(name);
    if (known == std::string_view::npos) {
      return false;
    }
    value += kValues[known];
    return true;
  }
  char32_t point = 0;
  if (!hex(point)) {
    return false;
  }
  if (point >= 0xD800 && point <= 0xDFFF) {
    char32_t low = 0;
    if (point > 0xDBFF || !text_.substr(at_).starts_with("\\u")) {
      return false;
    }
    at_ += 2;
    if (!hex(low) || low < 0xDC00 || low > 0xDFFF) {
      return false;
    }
    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
  }
  append_utf8(value, point);
  return true;
}

/// Four hexadecimal digits.
bool QuickLexer::hex(char32_t& unit) noexcept {
  if (text_.size() < at_ + 4 || at_ > text_.size()) {
    return false;
  }
  unit = 0;
  for (const std::size_t end = at_ + 4; at_ < end; ++at_) {
    const char c = text_[at_];
    const char lower = static_cast<char>(c | 0x20);
    if (!is_digit(c) && (lower < 'a' || lower > 'f')) {
      return false;
    }
    unit = (unit << 4) | static_cast<char32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
  }
  return true;
}

}  // namespace bawn::contract::detail
