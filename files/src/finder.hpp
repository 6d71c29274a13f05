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
  std::vector<std::string> notes;
};

/// The sentence about a place without rg.
[[nodiscard]] std::string no_rg_note();

/// Arguments of rg that both listing and searching need: no configuration, hidden names, git's
/// rules and no others.
[[nodiscard]] std::vector<std::string> rg_arguments(const WalkOptions& options);

/// The lines of rg's errors as notes, at most ten.
[[nodiscard]] std::vector<std::string> notes_of(const std::string& errors);

/// The files below `root`. Errors: as walk_files and run_inside.
[[nodiscard]] Result<Found> find_files(const contract::Context& context, const Place& place,
                                       const std::string& root, const WalkOptions& options);

}  // namespace bawn::files
