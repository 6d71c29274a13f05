#include "utf8.hpp"

namespace bawn::contract::detail {
namespace {

struct Lead {
  char32_t bits;
  std::size_t size;
  char32_t smallest;  ///< below it the form is overlong
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) {
    return {byte, 1, 0};
  }
  if (byte >= 0xC2 && byte <= 0xDF) {
    return {static_cast<char32_t>(byte & 0x1F), 2, 0x80};
  }
  if (byte >= 0xE0 && byte <= 0xEF) {
    return {static_cast<char32_t>(byte & 0x0F), 3, 0x800};
  }
  if (byte >= 0xF0 && byte <= 0xF4) {
    return {static_cast<char32_t>(byte & 0x07), 4, 0x10000};
  }
  return {0, 0, 0};
}

}  // namespace

CodePoint next_code_point(std::string_view text) noexcept {
  if (text.empty()) {
    return {};
  }
  const Lead lead = lead_of(static_cast<unsigned char>(text.front()));
  if (lead.size == 0 || text.size() < lead.size) {
    return {};
  }
  char32_t point = lead.bits;
  for (std::size_t i = 1; i < lead.size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) {
      return {};
    }
    point = (point << 6) | static_cast<char32_t>(byte & 0x3F);
  }
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < lead.smallest || surrogate || point > 0x10FFFF) {
    return {};
  }
  return {point, lead.size};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = next_code_point(text).size;
    if (size == 0) {
      return false;
    }
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace bawn::contract::detail
