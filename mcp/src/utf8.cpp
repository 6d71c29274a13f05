#include "utf8.hpp"

namespace bawn::mcp {
namespace {

constexpr bool between(char c, unsigned char low, unsigned char high) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= low && byte <= high;
}

constexpr bool continues(std::string_view bytes, std::size_t first, std::size_t length) noexcept {
  for (std::size_t i = first; i < length; ++i) {
    if (!between(bytes[i], 0x80, 0xBF)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::size_t utf8_length(std::string_view bytes) noexcept {
  if (bytes.empty()) {
    return 0;
  }
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0x80) {
    return 1;
  }
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length || !continues(bytes, 1, length)) {
    return 0;
  }
  // The second byte's range keeps out what has a shorter form, surrogates, and what is too large.
  const bool fits = (lead != 0xE0 || between(bytes[1], 0xA0, 0xBF)) &&
                    (lead != 0xED || between(bytes[1], 0x80, 0x9F)) &&
                    (lead != 0xF0 || between(bytes[1], 0x90, 0xBF)) &&
                    (lead != 0xF4 || between(bytes[1], 0x80, 0x8F));
  return fits ? length : 0;
}

}  // namespace bawn::mcp
