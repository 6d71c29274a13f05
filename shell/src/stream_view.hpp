/// \file
/// From the raw bytes of a stream to the text that is shown.
#pragma once

#include "bawn/shell/call_result.hpp"
#include "output_buffer.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace bawn::shell {

/// Which lines a reader wants.
class LineFilter {
 public:
  /// `pattern` in RE2's syntax; found anywhere in a line.
  ///
  /// Errors: InvalidArgument with RE2's words.
  static Result<LineFilter> make(const std::string& pattern);
  [[nodiscard]] bool takes(std::string_view text) const;

 private:
  explicit LineFilter(std::shared_ptr<const re2::RE2> pattern) : pattern_(std::move(pattern)) {}
  std::shared_ptr<const re2::RE2> pattern_;
};

/// The file of a call's text, and what is shown where a shell names it.
struct ScriptName {
  std::string path;  ///< empty = there is none
  std::string shown;
};

struct ViewOptions {
  std::uint64_t from = 0;     ///< first byte to show
  std::size_t max_bytes = 0;  ///< raw bytes to show at most
  /// The stream may go on: a code point that is not complete yet is left for the next view.
  bool open_end = false;
  ScriptName script{};
  const LineFilter* filter = nullptr;  ///< show only lines that it takes, with their numbers
  bool raw = false;                    ///< base64 of the bytes from `from` on, nothing folded
};

/// Offset of the first byte of line `line`, counted from 1; the end when there are fewer.
[[nodiscard]] std::uint64_t offset_of_line(const OutputBuffer& buffer, std::uint64_t line);

/// Makes raw bytes readable: controls and carriage returns folded, valid UTF-8, the file of the
/// call's text named as it is to be shown. Counts in `view` what it did.
void tidy_text(std::string& text, const ScriptName& script, StreamView& view);

/// How many bytes at the end of `text` are the beginning of a terminal sequence that is cut off.
[[nodiscard]] std::size_t incomplete_sequence(std::string_view text) noexcept;

/// "\r\n", as a terminal writes every newline, becomes "\n".
void fold_line_ends(std::string& text);

/// Takes terminal sequences out, applies backspaces, and shows other control characters as ^X;
/// tabs, newlines and carriage returns stay. Returns whether anything changed.
bool fold_controls(std::string& text);

/// Shows all from `from` on when it fits, else its first and last parts around one line that says
/// what is missing. Cuts fall on code points, and on line ends where one is near.
[[nodiscard]] StreamView make_view(const OutputBuffer& buffer, const ViewOptions& options);

/// Keeps of each line what stands behind its last carriage return, as a terminal would show it; a
/// carriage return right before the newline stays. Returns whether anything was left out.
bool fold_carriage_returns(std::string& text);

/// Replaces each byte that is not part of a UTF-8 sequence by U+FFFD and returns how many there
/// were.
std::uint64_t make_valid_utf8(std::string& text);

/// How many bytes at the end of `text` are the beginning of a code point that is cut off.
[[nodiscard]] std::size_t incomplete_suffix(std::string_view text) noexcept;

}  // namespace bawn::shell
