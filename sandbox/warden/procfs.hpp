/// \file
/// The warden's eyes: /proc, read through a descriptor that was opened before the wall stood.
#pragma once

#include "warden.hpp"

namespace bawn::sandbox::warden {

/// How many a look sees (pid_max is as high where it is not set, and up to 4194304 where it is).
/// What lives beyond is seen once those before it are gone: SIGKILL looks until nobody is left.
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

enum class Look : unsigned char {
  All,
  Alive,  ///< without those that have ended and wait for their parents
};

/// The processes of the session but the warden and its file agents, with their stat, by rising
/// number. With an own PID namespace that is all of /proc, else the descendants. The array is the
/// callee's and is valid until the next call.
std::size_t list_session(const Station& station, Look look, Process*& processes) noexcept;

/// A pidfd of exactly this process while it lives, else -1; `now` is its stat read again.
int hold_process(int proc, const Process& process, Process& now) noexcept;

/// SIGKILL to every descendant that can be seen.
void kill_descendants(int proc) noexcept;

/// A buffer of `size` bytes that the `length` bytes of a list of numbers have filled may end within
/// a number, which would name another process: takes it off.
void drop_cut_word(char* text, std::size_t length, std::size_t size) noexcept;

}  // namespace bawn::sandbox::warden
