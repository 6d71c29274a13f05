#include "quoted_name.hpp"

namespace bawn::files {

namespace {

std::optional<char> simple_escape(char letter) {
  switch (letter) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
    case '"':
      return letter;
    default:
      return std::nullopt;
  }
}

std::optional<char> octal_escape(std::string_view digits) {
  if (digits.size() < 3 || digits[0] < '0' || digits[0] > '3') {
    return std::nullopt;
  }
  unsigned value = 0;
  for (const char digit : digits.substr(0, 3)) {
    if (digit < '0' || digit > '7') {
      return std::nullopt;
    }
    value = value * 8 + static_cast<unsigned>(digit - '0');
  }
  return static_cast<char>(value);
}

}  // namespace

std::optional<QuotedName> unquote_name(std::string_view text) {
  QuotedName result;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      result.size = at + 1;
      return result;
    }
    if (text[at] != '\\') {
      result.name += text[at];
      continue;
    }
    if (++at == text.size()) {
      return std::nullopt;
    }
    if (const auto simple = simple_escape(text[at])) {
      result.name += *simple;
    } else if (const auto octal = octal_escape(text.substr(at))) {
      result.name += *octal;
      at += 2;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::string> without_first_part(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || slash + 1 == path.size()) {
    return std::nullopt;
  }
  return std::string(path.substr(slash + 1));
}

}  // namespace bawn::files
