/// \file
/// Where a program's diagnostics go that must never hold it up.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// Writes lines to descriptor 2, each with `name` and a colon in front, cut at PIPE_BUF bytes: at
/// most 20 in 10 s, the number of those left out said once there is room, and none while the
/// descriptor would block. For ClientOptions::log and ServerOptions::log.
///
/// Threads: the function is thread-safe, and so are its copies, which count together.
[[nodiscard]] std::function<void(std::string_view)> bounded_log(std::string name);

}  // namespace bawn::mcp
