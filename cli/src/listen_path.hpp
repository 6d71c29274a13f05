/// \file
/// Where a server's own files may lie: its unix socket and its tokens.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/shell/session.hpp"

#include <string>
#include <string_view>

namespace bawn::cli {

/// The absolute form of a socket's path, by which sessions find it and keep it out of reach.
///
/// Errors: InvalidArgument for a path below the workspace or another directory that commands may
/// write to. One of them could be its client there, and answer what the user is asked.
[[nodiscard]] contract::Result<std::string> socket_path_outside(const std::string& path,
                                                                const shell::SessionConfig& config);

/// Refuses a path (absolute, without links) where commands work. `what` it is, and `why` not there,
/// are for the sentence: "the socket", "where …".
///
/// Errors: InvalidArgument.
[[nodiscard]] contract::Result<> check_outside(std::string_view what, const std::string& path,
                                               const shell::SessionConfig& config,
                                               std::string_view why);

}  // namespace bawn::cli
