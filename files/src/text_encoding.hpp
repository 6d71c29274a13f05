/// \file
/// Files as text: which encoding and line ends they have, and back to the same bytes.
#pragma once

#include "bawn/contract/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::files {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

enum class Encoding { Utf8, Utf8Bom, Utf16Le, Utf16Be, Latin1 };
enum class LineEnding { None, Lf, CrLf, Mixed };

[[nodiscard]] std::string_view to_string(Encoding encoding) noexcept;
[[nodiscard]] std::string_view to_string(LineEnding ending) noexcept;

/// What a file's text is made of, beside the text.
struct TextStyle {
  Encoding encoding = Encoding::Utf8;
  LineEnding ending = LineEnding::None;
  bool final_newline = true;      ///< true also for an empty file
  std::size_t invalid_bytes = 0;  ///< bytes that are not UTF-8 in a file that mostly is
};

struct DecodedText {
  std::string text;  ///< UTF-8 without a byte order mark; invalid bytes of a UTF-8 file stay
  TextStyle style;
};

/// The text of a file; none when its bytes are no text (NUL bytes, or many control characters).
/// Bytes that are mostly not UTF-8 are taken for Latin-1.
[[nodiscard]] std::optional<DecodedText> decode_text(std::string bytes);

/// The encoding and line ends alone, as decode_text() has them.
[[nodiscard]] std::optional<TextStyle> style_of(std::string_view bytes);

/// How the style of a file's new content is another one than that of the old: "the encoding was
/// utf-16le and is utf-8 now"; empty where it is not, or one of them is no text or has nothing to
/// tell by.
[[nodiscard]] std::string style_change(std::string_view before, std::string_view after);

/// The text of UTF-16 behind its byte order mark, with U+FFFD for what is ill-formed: to be looked
/// at, not to be written back.
[[nodiscard]] std::string utf16_for_reading(std::string_view bytes);

/// Back to bytes, the byte order mark included. What `decode_text` gave comes back byte for byte,
/// except from UTF-16 that is ill-formed.
///
/// Errors: InvalidArgument, naming the first character that the encoding does not have.
[[nodiscard]] Result<std::string> encode_text(std::string text, Encoding encoding);

[[nodiscard]] LineEnding line_ending_of(std::string_view text) noexcept;

/// Every line end as LF, or as CRLF. A CR that no LF follows stays.
[[nodiscard]] std::string with_line_ending(std::string_view text, LineEnding ending);

/// True for bytes that a person would not call text; looks at the first 8 KiB.
[[nodiscard]] bool looks_binary(std::string_view bytes) noexcept;

}  // namespace bawn::files
