/// \file
/// Several files changed as one: all of them, or none.
#pragma once

#include "bawn/files/place.hpp"
#include "load.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

/// What becomes of one absolute inside path.
struct FileChange {
  std::string path;
  std::optional<LoadedFile> before;  ///< what was read; none: nothing must be there
  std::optional<std::string> after;  ///< the new bytes; none: the name goes
  std::optional<std::uint32_t>
      mode;  ///< permission bits; none: those of `before`, or the usual ones
  std::optional<std::int64_t> mtime_ns;  ///< none: now
  bool make_parents = false;
};

/// What was done to it.
struct FileChanged {
  std::optional<sandbox::FileStatus> status;  ///< of what is there now
  std::string target;  ///< where the content is, links resolved; empty when the name went
  bool owner_kept = true;
  bool attributes_kept = true;
  bool durable = true;
  int parents_made = 0;
};

/// Writes all new contents beside their places first, then puts them there one by one, each only if
/// its file is still the one that was read. When one fails, those before it are put back.
///
/// Errors: those of the agent, explained, naming the path; when putting back failed as well, the
/// sentence says which paths have the new content.
/// Blocking: the disk; everything is synced.
[[nodiscard]] Result<std::vector<FileChanged>> commit_changes(
    const contract::Context& context, const Place& place, const std::vector<FileChange>& changes);

}  // namespace bawn::files
