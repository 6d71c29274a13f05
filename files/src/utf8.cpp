#include "utf8.hpp"

#include <cstdint>
#include <cstring>

namespace bawn::files {

namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080U;

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Bytes of plain ASCII at the start of `text`, found eight at a time.
std::size_t ascii_run(std::string_view text) {
  std::size_t at = 0;
  while (at + sizeof(std::uint64_t) <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & kHighBits) != 0) {
      break;
    }
    at += sizeof word;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) {
    ++at;
  }
  return at;
}

}  // namespace

CodePoint next_code_point(std::string_view text) noexcept {
  if (text.empty()) {
    return {};
  }
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) {
    return {.point = lead, .size = 1};
  }
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) {
    return {};
  }
  char32_t point = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (!is_continuation(text[i])) {
      return {};
    }
    point = (point << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool overlong = (size == 3 && point < 0x800) || (size == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return overlong || surrogate || point > 0x10FFFF ? CodePoint{} : CodePoint{point, size};
}

void append_code_point(std::string& out, char32_t point) {
  const auto add = [&](char32_t value) { out += static_cast<char>(value); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0U | (point >> 6U));
    add(0x80U | (point & 0x3FU));
  } else if (point < 0x10000) {
    add(0xE0U | (point >> 12U));
    add(0x80U | ((point >> 6U) & 0x3FU));
    add(0x80U | (point & 0x3FU));
  } else {
    add(0xF0U | (point >> 18U));
    add(0x80U | ((point >> 12U) & 0x3FU));
    add(0x80U | ((point >> 6U) & 0x3FU));
    add(0x80U | (point & 0x3FU));
  }
}

Utf8Survey survey_utf8(std::string_view text) noexcept {
  Utf8Survey survey;
  while (!text.empty()) {
    text.remove_prefix(ascii_run(text));
    while (!text.empty() && static_cast<unsigned char>(text[0]) >= 0x80) {
      const std::size_t size = next_code_point(text).size;
      survey.invalid_bytes += size == 0 ? 1 : 0;
      survey.multibyte += size == 0 ? 0 : 1;
      text.remove_prefix(size == 0 ? 1 : size);
    }
  }
  return survey;
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_valid_utf8(out, text);
  return out;
}

void append_valid_utf8(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t plain = ascii_run(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) {
      break;
    }
    const std::size_t size = next_code_point(text).size;
    out.append(size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size));
    text.remove_prefix(size == 0 ? 1 : size);
  }
}

std::size_t cut_at(std::string_view text, std::size_t most) noexcept {
  if (most >= text.size()) {
    return text.size();
  }
  std::size_t at = most;
  for (int steps = 0; at > 0 && steps < 3 && is_continuation(text[at]); ++steps) {
    --at;
  }
  // Only a whole sequence is kept together; stray continuation bytes are cut anywhere.
  return at + next_code_point(text.substr(at)).size > most ? at : most;
}

}  // namespace bawn::files
