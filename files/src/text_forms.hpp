/// \file
/// A text with one kind of difference taken out, to say in what two texts differ.
#pragma once

#include <string>
#include <string_view>

namespace bawn::files {

[[nodiscard]] bool is_blank(char c);
/// Without any white space.
[[nodiscard]] std::string squeezed(std::string_view text);
/// Typographic quotes, dashes and blanks as their plain ASCII.
[[nodiscard]] std::string plain_marks(std::string_view text);
/// Plain marks of the writable part in lower case, without white space.
[[nodiscard]] std::string folded(std::string_view text);
/// LF for CRLF.
[[nodiscard]] std::string with_lf(std::string_view text);
/// Without white space at line ends.
[[nodiscard]] std::string trimmed_ends(std::string_view text);
/// Each run of blanks and tabs as one blank.
[[nodiscard]] std::string untabbed(std::string_view text);
/// Without what a reader does not see or cannot write: control and invisible characters, bytes that
/// are not UTF-8, and the U+FFFD that is shown for them.
[[nodiscard]] std::string writable_part(std::string_view text);
/// What writable_part() takes out of a file's text, for a sentence; empty when it is nothing.
[[nodiscard]] std::string unwritable_part(std::string_view text);

}  // namespace bawn::files
