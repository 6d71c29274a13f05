/// \file
/// What a whole patch makes of a set of files, worked out before anything is touched.
#pragma once

#include "patch.hpp"
#include "patch_apply.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

/// A file's bytes and permission bits.
struct FileContent {
  std::string bytes;
  std::uint32_t mode = 0644;
  bool operator==(const FileContent&) const = default;
};

/// How the file of a path is read; none when there is none.
using ReadContent = std::function<Result<std::optional<FileContent>>(const std::string& path)>;

/// What becomes of one path. Both set: changed; only one: made or removed.
struct PathChange {
  std::string path;
  std::optional<FileContent> before;
  std::optional<FileContent> after;
  /// The file itself moves here from this path, where nothing is left; `before` is that file's.
  std::optional<std::string> from{};
  std::size_t patch_line = 0;  ///< of the first part of the patch about it
};

/// One file's part of the patch, for the report.
struct PatchedFile {
  FilePatch::Kind kind = FilePatch::Kind::Modify;
  std::string path;
  std::string from;  ///< of a rename or copy
  std::vector<HunkPlace> places;
};

struct PatchPlan {
  std::vector<PathChange> changes;  ///< each path once, in the order of the patch; a move is one
  std::vector<PatchedFile> files;
};

/// Applies the patch to what `read` gives. A path may occur several times: later parts see what
/// earlier ones made of it; renames and copies of git's form start from the files as they were.
///
/// A file and one below it cannot both be there afterwards. Errors: InvalidArgument, "patch line N:
/// PATH: …"; those of `read`, behind "patch line N".
[[nodiscard]] Result<PatchPlan> plan_patch(const Patch& patch, const ReadContent& read,
                                           const ApplyOptions& options);

}  // namespace bawn::files
