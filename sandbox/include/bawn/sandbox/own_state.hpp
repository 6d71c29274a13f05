/// \file
/// What belongs to bawn itself and is a secret of every wall, whatever the policy says: a command
/// that could read or write it could pretend to be a client, or have a stranger's process ended.
#pragma once

#include <string>
#include <vector>

namespace bawn::sandbox {

/// Where the calling user's bawn keeps session directories, records and logs: $BAWN_RUNTIME_DIR,
/// else /run/bawn for root, else $XDG_RUNTIME_DIR/bawn, else /tmp/bawn-UID. It need not be there.
///
/// Threads: as getenv(3).
[[nodiscard]] std::string own_state_directory();

/// Makes a file or directory of this program's own (its tokens, say) such a secret for every wall
/// that is planned from now on. `path` is absolute.
///
/// Threads: thread-safe.
void keep_hidden(const std::string& path);

/// The state directory and all that keep_hidden() was told, in no particular order.
///
/// Threads: as own_state_directory().
[[nodiscard]] std::vector<std::string> own_secrets();

}  // namespace bawn::sandbox
