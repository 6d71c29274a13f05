/// \file
/// Text as lines.
#pragma once

#include "bawn/contract/count_newlines.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace bawn::files {

/// The lines of `text`, each with its line end; the last may have none. Views into `text`.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

/// A line without "\n" or "\r\n".
[[nodiscard]] std::string_view without_line_end(std::string_view line) noexcept;

using contract::count_newlines;

/// The number, from 1, of the line that holds byte `at`.
[[nodiscard]] std::size_t line_number_at(std::string_view text, std::size_t at) noexcept;

/// How many lines `text` has; an unfinished last one counts.
[[nodiscard]] std::size_t count_lines(std::string_view text) noexcept;

}  // namespace bawn::files
