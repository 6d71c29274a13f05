/// \file
/// The processes that one call started, as the warden sees them.
#pragma once

#include "bawn/sandbox/warden.hpp"
#include "bawn/shell/call_result.hpp"
#include "input_feed.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bawn::shell {

/// Whose processes are meant.
struct CallScope {
  std::string marker;            ///< value of BAWN_CALL
  std::uint64_t not_before = 0;  ///< start time of the call, clock ticks after boot
  std::string shell_marker;  ///< of the shell: its forks carry it until they exec; empty for exec
  int shell_pid = 0;         ///< host pid of the shell, which is spared; 0 = none
  int shell_inside_pid = 0;
};

/// Sends `signal` to all of them and returns how many were reached.
[[nodiscard]] Result<int> signal_call(sandbox::Warden& warden, const CallScope& scope, int signal);

/// Sends it to one process. Errors: the warden's.
[[nodiscard]] Result<int> signal_process(sandbox::Warden& warden, int inside_pid, int signal);

/// Those that live, zombies left out. `shell_state`: where the letter of the shell's state goes,
/// which is left alone when the shell is not there.
[[nodiscard]] Result<std::vector<sandbox::ProcessInfo>> call_processes(sandbox::Warden& warden,
                                                                       const CallScope& scope,
                                                                       char* shell_state = nullptr);

/// True when a process of the call waits until somebody writes to `input`: it sleeps in a read of
/// it, or in a poll(2) or select(2) with it as its standard input. `shell` is the marker of a
/// persistent shell that may read itself; empty = none. False also where the kernel does not let us
/// look (/proc/PID/syscall needs the rights of ptrace(2)).
[[nodiscard]] bool waits_for(const std::vector<sandbox::ProcessInfo>& processes,
                             const std::string& call, const std::string& shell,
                             const InputFeed& input);

[[nodiscard]] Survivor to_survivor(const sandbox::ProcessInfo& process);

}  // namespace bawn::shell
