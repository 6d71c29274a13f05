/// \file
/// The warden's eyes: /proc, read through a descriptor that was opened before the wall stood.
#pragma once

#include "warden.hpp"

namespace bawn::sandbox::warden {

/// More than any PID namespace's default limit here; what is beyond is found by the next pass.
inline constexpr std::size_t kMaxProcesses = 32768;

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t pgid = 0;
  pid_t sid = 0;
  std::uint64_t start_time = 0;  ///< clock ticks after boot
  char state = 0;                // all zero, so that the table takes no room in the program
  char name[64] = {};
};

/// Reads /proc/PID/stat; false when it is gone.
bool read_process(int proc, pid_t pid, Process& process) noexcept;

/// Whose call a process belongs to by itself: what it was started for, else the marker BAWN_CALL in
/// its environment; the empty text when neither tells. (A process in the middle of an exec has no
/// environment for a moment.)
void find_call(int proc, pid_t pid, char (&call)[kMaxCall + 1]) noexcept;

/// All processes of the session but the warden, with their stat. With an own PID namespace that is
/// all of /proc, else the descendants, parents first. The array is the callee's and is valid until
/// the next call.
std::size_t list_session(const Station& station, Process*& processes) noexcept;

/// SIGKILL to every descendant that can be seen.
void kill_descendants(int proc) noexcept;

}  // namespace bawn::sandbox::warden
