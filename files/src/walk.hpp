/// \file
/// The regular files below a directory, found through the file agent: what `rg --files` would list.
#pragma once

#include "bawn/files/place.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bawn::files {

struct WalkOptions {
  bool hidden = true;                ///< also names that begin with '.'; ".git" never
  bool ignored = false;              ///< also what git's ignore rules leave out
  std::uint64_t max_file_bytes = 0;  ///< leave larger files out; 0: no limit
  std::vector<std::string> types{};  ///< for rg: only files of these types, by its names
};

struct Walk {
  std::vector<std::string> files;  ///< relative to the root, sorted by bytes
  std::vector<std::string> notes;  ///< directories that could not be read
  bool late = false;               ///< the deadline ended it; what is here is a part
};

/// Walks down from `root`, an absolute inside path of a directory. Links are not followed. As rg
/// does, ignore rules are read within git repositories only.
///
/// Ends at the context's deadline with what it has found. Directories more than 512 levels down are
/// left out, and a note says so.
/// Errors: of reading `root` itself; Cancelled; ResourceExhausted beyond two million files.
[[nodiscard]] Result<Walk> walk_files(const contract::Context& context, const Place& place,
                                      const std::string& root, const WalkOptions& options);

}  // namespace bawn::files
