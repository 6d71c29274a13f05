/// \file
/// The hunks of one file, applied to its text.
#pragma once

#include "patch.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

struct ApplyOptions {
  /// 0: every context line must match. 1 to 3: up to so many context lines at each end of a hunk
  /// may differ, and hunks of the marked form may differ in white space.
  unsigned fuzz = 0;
};

/// Where a hunk went.
struct HunkPlace {
  std::size_t patch_line = 0;
  std::size_t line = 0;       ///< first line, from 1, in the new text
  std::ptrdiff_t offset = 0;  ///< lines away from where its head said; 0 for the marked form
  unsigned fuzz = 0;          ///< context lines left out of account, or 1 for white space
};

struct PatchedText {
  std::string text;
  std::vector<HunkPlace> places;
};

/// Applies all hunks, or none. A numbered hunk goes to the matching place nearest to its line, as
/// `git apply` does: one from line 1 only at the beginning, one without context at its end only at
/// the end. A marked hunk goes behind the one before it, to the only place that matches.
///
/// `path` is for the sentences. Errors: InvalidArgument, "patch line N: PATH: …".
/// Time is bounded: a search that compares too much is refused.
[[nodiscard]] Result<PatchedText> apply_hunks(std::string_view path, std::string_view before,
                                              const std::vector<Hunk>& hunks,
                                              const ApplyOptions& options);

}  // namespace bawn::files
