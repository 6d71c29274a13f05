/// \file
/// Whose call a process belongs to, where what a process says of itself may be a lie.
#pragma once

#include "procfs.hpp"

namespace bawn::sandbox::warden {

/// The call in question.
struct CallQuery {
  const char* call;          ///< its marker
  std::uint64_t not_before;  ///< clock ticks after boot; 0 = time tells nothing
  pid_t keep_pid;            ///< the shell in which it runs, or 0
};

/// Decides for each of `processes` (by rising pid). In this order:
///
/// 1. What the warden started itself belongs to the call that it was started for.
/// 2. The call's own marker in the environment makes a process the call's.
/// 3. A process that is older than the call is another's.
/// 4. A child belongs where its parent belongs, however deep; but the shell hands nothing down.
/// 5. What is left hangs below the shell or has lost its parent. Another call's marker counts there
///    only if it is one of this session's and the process started in the call's very first clock
///    tick with an earlier call's number, or carries the marker of a child of the warden's that
///    lives (the shell excepted: its forks carry its marker), or the call does not run in the
///    shell, beside whose calls it then runs. Else the command may have written the marker itself.
/// 6. All else is the call's.
void decide_owners(const Station& station, const CallQuery& query, const Process* processes,
                   std::size_t count) noexcept;

/// What decide_owners() found for the process at that place.
bool is_of_call(std::size_t at) noexcept;

}  // namespace bawn::sandbox::warden
