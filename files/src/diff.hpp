/// \file
/// The difference of two texts by lines, in bounded time, and its unified form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

/// Lines [old_first, old_first + old_count) became [new_first, new_first + new_count); from 0.
struct Change {
  std::size_t old_first = 0;
  std::size_t old_count = 0;
  std::size_t new_first = 0;
  std::size_t new_count = 0;
  bool operator==(const Change&) const = default;
};

/// A shortest edit script by Myers' algorithm, in order. Where the texts are too different for that
/// in reasonable time, lines that occur once in both anchor it and the rest between them is
/// replaced whole: still correct, no longer shortest.
///
/// Bounded: time O((n + m) * log(n + m)) and a constant number of Myers' steps.
[[nodiscard]] std::vector<Change> diff_lines(const std::vector<std::string_view>& before,
                                             const std::vector<std::string_view>& after);

struct DiffOptions {
  std::size_t context = 3;
  std::size_t max_bytes = 32 * 1024;  ///< whole hunks up to here; what is left out is said
};

struct UnifiedDiff {
  std::string text;  ///< valid UTF-8; empty when both are equal
  std::size_t added = 0;
  std::size_t removed = 0;
  bool cut = false;  ///< hunks were left out
};

/// `diff -u` of two texts, with "\ No newline at end of file" where it applies.
[[nodiscard]] UnifiedDiff unified_diff(std::string_view old_name, std::string_view new_name,
                                       std::string_view before, std::string_view after,
                                       const DiffOptions& options = {});

}  // namespace bawn::files
