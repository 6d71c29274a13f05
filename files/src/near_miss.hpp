/// \file
/// When a text is not found: the place that comes nearest, and in what it differs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::files {

struct NearMiss {
  std::size_t first_line = 0;  ///< from 1
  std::size_t last_line = 0;
  std::string reason;  ///< "only line ends differ: the file has CRLF", …
  std::string diff;    ///< small: "-" what was looked for, "+" what the file has
};

/// The nearest place in `text` for `wanted`, which sentences call `name`; none when no line is
/// alike. Time is bounded: of long texts only the first part is compared line by line.
[[nodiscard]] std::optional<NearMiss> find_near_miss(std::string_view text, std::string_view wanted,
                                                     std::string_view name = "old_string");

/// The same as the end of a sentence: "; the nearest place is lines 3 to 5 (…):\n<diff>", or ".".
[[nodiscard]] std::string describe_near_miss(std::string_view text, std::string_view wanted);

}  // namespace bawn::files
