/// \file
/// What listing and searching by `rg` (ripgrep) have in common.
#pragma once

#include "run_inside.hpp"
#include "walk.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bawn::files {

/// Arguments of rg that both listing and searching need: no configuration, hidden names, git's
/// rules and no others.
[[nodiscard]] std::vector<std::string> rg_arguments(const WalkOptions& options);

/// Why a run was not one of a working rg: there is none, it cannot be started, it broke, or it is
/// too old. None when its answer counts.
[[nodiscard]] std::optional<std::string> why_no_rg(const InsideRun& run);

/// Why a place that starts no programs has no rg.
[[nodiscard]] std::string no_programs();

/// The note of an answer that was found without rg.
[[nodiscard]] std::string no_rg_note(const std::string& why);

/// The lines of rg's errors as notes, at most ten.
[[nodiscard]] std::vector<std::string> notes_of(const std::string& errors);

}  // namespace bawn::files
