/// \file
/// Reading UTF-8 one code point at a time.
#pragma once

#include <cstddef>
#include <string_view>

namespace bawn::contract::detail {

struct CodePoint {
  char32_t point = 0;
  std::size_t size = 0;  ///< bytes; 0 when the text does not start with a well-formed sequence
};

/// The code point at the start of `text`: no overlong form, no surrogate, nothing above U+10FFFF.
[[nodiscard]] CodePoint next_code_point(std::string_view text) noexcept;

/// True for well-formed UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace bawn::contract::detail
