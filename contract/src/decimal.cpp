#include "decimal.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace bawn::contract::detail {

Decimal shortest_decimal(double value) {
  std::array<char, 64> buffer{};  // enough for every double
  const char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                        std::chars_format::scientific)
                              .ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t mark = text.find('e');
  Decimal decimal;
  for (const char letter : text.substr(0, mark)) {
    if (letter != '.') {
      decimal.digits += letter;
    }
  }
  std::string_view exponent = text.substr(mark + 1);
  exponent.remove_prefix(exponent.starts_with('+') ? 1 : 0);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  return decimal;
}

}  // namespace bawn::contract::detail
