/// \file
/// From the raw bytes of a stream to the text that is shown.
#pragma once

#include "bawn/shell/call_result.hpp"
#include "output_buffer.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bawn::shell {

struct ViewOptions {
  std::uint64_t from = 0;     ///< first byte to show
  std::size_t max_bytes = 0;  ///< raw bytes to show at most
  /// The stream may go on: a code point that is not complete yet is left for the next view.
  bool open_end = false;
  /// Shown as "bash" where bash names the file that holds the call's text.
  std::string script{};
};

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
