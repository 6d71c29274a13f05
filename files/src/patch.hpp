/// \file
/// A patch as data: what becomes of which file. Read from git's unified diff or from the marked
/// form ("*** Begin Patch").
#pragma once

#include "bawn/contract/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

/// One line of a hunk. The text has its line end unless the file has none there.
struct PatchLine {
  enum class Kind : std::uint8_t { Context, Remove, Add };
  Kind kind = Kind::Context;
  std::string text;
};

struct Hunk {
  std::size_t patch_line = 0;  ///< line of the patch, from 1, where it begins
  std::vector<PatchLine> lines;
  /// Unified form: line numbers from its head. The marked form has none.
  bool numbered = false;
  std::size_t old_start = 0;
  std::size_t new_start = 0;
  /// Marked form: lines to be found, one after the other, before the hunk's place.
  std::vector<std::string> anchors;
  bool at_end = false;  ///< "*** End of File": the hunk's old lines are the file's last
};

struct FilePatch {
  enum class Kind : std::uint8_t { Modify, Add, Delete, Rename, Copy };
  Kind kind = Kind::Modify;
  std::size_t patch_line = 0;             ///< where its part of the patch begins
  std::string old_path;                   ///< as written, without a/ and b/
  std::string new_path;                   ///< the same as old_path unless renamed or copied
  std::optional<std::uint32_t> old_mode;  ///< permission bits, when the patch says them
  std::optional<std::uint32_t> new_mode;
  std::vector<Hunk> hunks;
};

struct Patch {
  bool marked = false;
  std::vector<FilePatch> files;
};

/// Reads either form; which one is seen by its first marker.
///
/// Errors: InvalidArgument, "patch line N: …", for what is no patch, does not hold together, or
/// cannot be done here (binary patches, links, submodules).
[[nodiscard]] Result<Patch> parse_patch(std::string_view text);

/// git's form: `git diff`, `git format-patch`, `diff -u`.
[[nodiscard]] Result<Patch> parse_unified_patch(std::string_view text);

/// The form with *** markers.
[[nodiscard]] Result<Patch> parse_marked_patch(std::string_view text);

/// A sentence about a place in the patch.
[[nodiscard]] std::unexpected<Error> patch_error(std::size_t line, std::string_view problem);

}  // namespace bawn::files
