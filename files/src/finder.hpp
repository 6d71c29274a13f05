/// \file
/// Which files there are: by `rg` inside the wall, or where it is missing by walking.
#pragma once

#include "walk.hpp"

#include <string>
#include <vector>

namespace bawn::files {

struct Found {
  std::vector<std::string> files;  ///< relative to the root, sorted by bytes
  bool by_rg = true;
  std::string why_no_rg;  ///< why not, unless by rg
  bool late = false;      ///< the deadline ended it; what is here is a part
  bool cut = false;       ///< there were more names than can be held
  std::vector<std::string> notes;
};

/// The files below `root`. Ends at the context's deadline with what it has found.
///
/// Errors: as walk_files and run_inside.
[[nodiscard]] Result<Found> find_files(const contract::Context& context, const Place& place,
                                       const std::string& root, const WalkOptions& options);

}  // namespace bawn::files
