/// \file
/// Where a server's unix socket may lie.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/shell/session.hpp"

#include <string>

namespace bawn::cli {

/// The absolute form of a socket's path, by which sessions find it and keep it out of reach.
///
/// Errors: InvalidArgument for a path below the workspace or another directory that commands may
/// write to. One of them could be its client there, and answer what the user is asked.
[[nodiscard]] contract::Result<std::string> socket_path_outside(const std::string& path,
                                                                const shell::SessionConfig& config);

}  // namespace bawn::cli
