#include "bawn/contract/quote.hpp"

#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace bawn::contract {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode 15, general categories Cc, Cf, Co, Zl, Zp and Zs (without U+0020), the noncharacters at
// the end of the BMP, and all planes that hold no characters. Sorted.
constexpr std::array kUnprintable = std::to_array<Range>({
    {0x00, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},        {0x600, 0x605},
    {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},      {0x890, 0x891},
    {0x8E2, 0x8E2},     {0x1680, 0x1680},   {0x180E, 0x180E},    {0x2000, 0x200F},
    {0x2028, 0x202F},   {0x205F, 0x206F},   {0x3000, 0x3000},    {0xD800, 0xF8FF},
    {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},    {0xFFFE, 0xFFFF},
    {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F},  {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0x323B0, 0xE00FF}, {0xE01F0, 0x10FFFF},
});

bool printable(char32_t point) {
  const auto* const after =
      std::upper_bound(kUnprintable.begin(), kUnprintable.end(), point,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return after == kUnprintable.begin() || point > std::prev(after)->last;
}

// The letters of the short escapes, or 0.
char short_escape(char32_t point) {
  switch (point) {
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    case '\\':
    case '"':
      return static_cast<char>(point);
    default:
      return 0;
  }
}

void append_escaped(std::string& out, char32_t point) {
  const auto value = static_cast<std::uint32_t>(point);
  if (const char letter = short_escape(point)) {
    out += {'\\', letter};
  } else if (value < 0x20 || value == 0x7F) {
    out += fmt::format("\\x{:02x}", value);
  } else if (value < 0x10000) {
    out += fmt::format("\\u{:04x}", value);
  } else {
    out += fmt::format("\\U{:08x}", value);
  }
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto [point, size] = detail::next_code_point(text);
    if (size == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    if (printable(point) && point != '"' && point != '\\') {
      out += text.substr(0, size);
    } else {
      append_escaped(out, point);
    }
    text.remove_prefix(size);
  }
  out += '"';
  return out;
}

std::string plain_or_quoted(std::string_view text) {
  std::string quoted = quote(text);
  const bool plain = std::string_view(quoted).substr(1, quoted.size() - 2) == text;
  return plain ? std::string(text) : quoted;
}

std::string_view text_start(std::string_view text, std::size_t bytes) noexcept {
  if (text.size() <= bytes) {
    return text;
  }
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return text.substr(0, end);
}

}  // namespace bawn::contract
