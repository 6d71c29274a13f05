/// \file
/// UTF-8 one code point at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bawn::files {

struct CodePoint {
  char32_t point = 0;
  std::size_t size = 0;  ///< bytes; 0 when the text does not start with a well-formed sequence
};

/// The code point at the start of `text`: no overlong form, no surrogate, nothing above U+10FFFF.
[[nodiscard]] CodePoint next_code_point(std::string_view text) noexcept;

/// Appends the UTF-8 form of a code point.
void append_code_point(std::string& out, char32_t point);

struct Utf8Survey {
  std::size_t invalid_bytes = 0;
  std::size_t multibyte = 0;  ///< well-formed sequences of more than one byte
};
/// One pass over all of `text`.
[[nodiscard]] Utf8Survey survey_utf8(std::string_view text) noexcept;

/// `text` with every byte that is not part of a well-formed sequence replaced by U+FFFD.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);
/// The same at the end of `out`.
void append_valid_utf8(std::string& out, std::string_view text);

/// The largest size up to `most` bytes at which `text` can be cut without splitting a sequence.
[[nodiscard]] std::size_t cut_at(std::string_view text, std::size_t most) noexcept;

}  // namespace bawn::files
