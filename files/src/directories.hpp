/// \file
/// Directories that go when a change leaves them empty, and come back with its undo.
#pragma once

#include "bawn/files/place.hpp"

#include <string>
#include <vector>

namespace bawn::files {

/// A directory that a change took away, as it was.
struct GoneDirectory {
  std::string path;  ///< absolute
  sandbox::FileStatus status;
};

struct FileChange;

/// Removes what `drop_parents` of the changes names, as far as it is empty now. A link on the way
/// is no directory of theirs.
[[nodiscard]] std::vector<GoneDirectory> drop_emptied(const contract::Context& context,
                                                      const Place& place,
                                                      const std::vector<FileChange>& changes);

/// Makes a directory that is gone with the mode that it had.
///
/// Returns how many were made: its last parents with it, or none where it is there.
/// Errors: the agent's.
[[nodiscard]] Result<int> make_again(const contract::Context& context, const Place& place,
                                     const GoneDirectory& directory);

/// Whether what make_again() made has another owner, group or mode than the one that is gone.
[[nodiscard]] bool came_back_changed(const contract::Context& context, const Place& place,
                                     const GoneDirectory& directory);

}  // namespace bawn::files
