/// \file
/// The only place in the server that starts processes.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/pidfd.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bawn::os {

/// What to start. Signals are reset to their defaults, none is blocked, and no descriptor enters
/// but 0, 1, 2 and those named in `fds`. It leads a process group of its own: what a terminal sends
/// to ours (Ctrl-C) is for us to handle.
struct SpawnOptions {
  std::string program;            ///< path; not looked up in PATH
  std::vector<std::string> argv;  ///< argv[0] included
  std::vector<std::string> env;   ///< "NAME=value"
  /// (descriptor here, number there). Numbers 0, 1 and 2 that are not named are /dev/null.
  std::vector<std::pair<int, int>> fds;
  /// Start it from one thread that never ends, so that PR_SET_PDEATHSIG in the child follows the
  /// death of this process and not that of the calling thread.
  bool from_lasting_thread = false;
};

/// Starts a program and returns it as a pidfd. It is our child: collect it with Pidfd::reap().
///
/// Blocking: until the child's exec (vfork semantics), a few milliseconds.
/// Errors: NotFound or PermissionDenied (program), ResourceExhausted, Internal.
/// Threads: thread-safe. Source: posix_spawn(3), close_range(2) (Linux 5.9).
[[nodiscard]] contract::Result<Pidfd> spawn(const SpawnOptions& options);

}  // namespace bawn::os
