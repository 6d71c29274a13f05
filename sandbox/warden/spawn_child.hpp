/// \file
/// The child between clone(CLONE_VM) and exec. It shares the warden's memory, touches nothing but
/// its slot, and makes raw system calls only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bawn::sandbox::warden {

struct ChildLimit {
  int resource;
  std::uint64_t soft;
  std::uint64_t hard;
};
inline constexpr int kMaxChildLimits = 8;

/// What a child needs, in memory that nobody else touches until the kernel says that the child has
/// left it: CLONE_CHILD_CLEARTID zeroes `tid` when its memory is released at exec or exit.
struct Slot {
  volatile int tid = 0;
  volatile int exec_errno = 0;
  Slot* next = nullptr;
  std::size_t size = 0;      ///< bytes of the whole mapping
  std::size_t capacity = 0;  ///< bytes at `payload`
  unsigned char* payload = nullptr;
  unsigned char* stack_top = nullptr;
  // The order.
  char** argv = nullptr;  ///< one place free in front, for a script without an interpreter line
  char** env = nullptr;
  const char* cwd = nullptr;
  const char* path = nullptr;  ///< the environment's PATH
  char* scratch = nullptr;     ///< kScratch bytes
  int input = -1;
  int output = -1;
  int error = -1;
  int go = -1;
  int scope_ruleset = -1;
  int read_only_ruleset = -1;                       ///< of this child alone
  const unsigned char* listener_program = nullptr;  ///< struct sock_filter, or null
  std::uint32_t listener_length = 0;
  bool new_session = false;
  bool terminal = false;  ///< descriptor 0 becomes the controlling terminal
  bool die_with_warden = false;
  int limit_count = 0;
  ChildLimit limits[kMaxChildLimits] = {};
};

inline constexpr std::size_t kScratch = 8192;

/// clone(2)'s entry; `argument` is the Slot.
int child_entry(void* argument) noexcept;

}  // namespace bawn::sandbox::warden
