/// \file
/// Where bawn keeps what lives as long as a server: session directories, records, spooled output.
#pragma once

#include "bawn/contract/error.hpp"

#include <string>

namespace bawn::cli {

/// Makes and returns the directory: $BAWN_RUNTIME_DIR, else /run/bawn for root, else
/// $XDG_RUNTIME_DIR/bawn, else /tmp/bawn-UID. Root's has mode 0711, since commands of a session run
/// as the workspace's owner and must reach their own session below it; everyone else's has 0700.
///
/// Errors: PermissionDenied when it exists but belongs to someone else or is a link.
[[nodiscard]] contract::Result<std::string> runtime_dir();

/// Refuses a workspace that holds that directory: what runs inside could change other sessions.
///
/// Errors: InvalidArgument, naming both.
[[nodiscard]] contract::Result<> check_apart_from_state(const std::string& workspace);

}  // namespace bawn::cli
