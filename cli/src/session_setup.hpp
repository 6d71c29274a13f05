/// \file
/// What every subcommand with a persistent session needs: its configuration, checked at once.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/shell/session.hpp"
#include "policy_choice.hpp"

namespace bawn::cli {

/// The configuration of sessions, refused now rather than at the first call when it cannot work.
///
/// Errors: those of choose_policy, check_wall, check_apart_from_state and runtime_dir.
[[nodiscard]] contract::Result<shell::SessionConfig> configure_sessions(const WallOptions& options);

}  // namespace bawn::cli
