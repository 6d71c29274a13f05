/// \file
/// Several files changed as one: all of them, or none.
#pragma once

#include "bawn/files/place.hpp"
#include "directories.hpp"
#include "load.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

/// What becomes of one absolute inside path.
struct FileChange {
  std::string path;
  /// The file comes from there by a rename: `before` is that one, and `path` must be free.
  std::optional<std::string> from{};
  std::optional<LoadedFile> before{};  ///< what was read; none: nothing must be there
  std::optional<std::string> after{};  ///< the new bytes; none: the name goes
  /// Permission bits; none: those of `before`, or the usual ones.
  std::optional<std::uint32_t> mode{};
  std::optional<std::int64_t> mtime_ns{};  ///< of new content; none: now
  bool make_parents = false;
  /// For a file that is made anew in place of one that is gone: what that one was.
  std::optional<LoadedFile> like{};
  std::string about{};   ///< where the caller asked for it, "patch line 3": goes before an error
  int drop_parents = 0;  ///< so many directories above the name that goes are removed when empty
};

/// What was done to it.
struct FileChanged {
  std::optional<sandbox::FileStatus> status;  ///< of what is there now
  std::string target;  ///< the path with links resolved, also of a name that went
  bool owner_kept = true;
  bool attributes_kept = true;
  bool durable = true;
  int parents_made = 0;  ///< directories above `target` that were made
};

/// What commit_changes() did.
struct Committed {
  std::vector<FileChanged> files;  ///< in the order of the changes
  std::vector<GoneDirectory> directories_gone;
  std::vector<std::string>
      directories_unlike;  ///< that came back with another owner, group or mode
};

/// Writes all new contents beside their places first, then puts them there one by one, each only if
/// its file is still the one that was read. Where only a mode or a name changes, the file itself
/// stays. When one step fails those before it are taken back: the very files that were there get
/// their names again, and directories that were made go. `bring_back` are directories that are
/// made first, where they are missing.
///
/// `meanwhile` is called when the new contents are on their way to the disk, at once or, where
/// there is much to do, from another thread beside the changes of names, which it must not touch:
/// what else a change costs is done while the disk works. It has ended when this returns; an
/// exception that it lets out is let out here, and the changes may have been made then.
///
/// Errors: those of the agent, explained, naming the path; when taking back failed as well, the
/// sentence says what is where.
/// Blocking: the disk; everything is synced.
[[nodiscard]] Result<Committed> commit_changes(
    const contract::Context& context, const Place& place, const std::vector<FileChange>& changes,
    std::vector<GoneDirectory> bring_back = {}, const std::function<void()>& meanwhile = [] {});

/// Whether commit_changes() would be refused, found out without touching anything.
///
/// Errors: those that it would have, for what can be known before: protected names, the wall,
/// permissions. A full disk and what others do meanwhile cannot.
[[nodiscard]] Result<> try_changes(const contract::Context& context, const Place& place,
                                   const std::vector<FileChange>& changes);

}  // namespace bawn::files
