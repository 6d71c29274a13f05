/// \file
/// Raw system calls for code that shares its memory and thread-local storage with the warden: the
/// child between clone(CLONE_VM) and exec. glibc's wrappers write errno, which is the warden's
/// there.
#pragma once

#include <sys/syscall.h>

namespace bawn::sandbox::warden {

/// Linux 6.6; from 424 on numbers are the same on every architecture.
inline constexpr long kFchmodat2 = 452;

#if defined(__x86_64__)
inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#else
#error "the warden knows the system call convention of x86_64 and aarch64 only"
#endif

inline long raw_address(const void* pointer) noexcept {
  return static_cast<long>(reinterpret_cast<unsigned long>(pointer));
}

}  // namespace bawn::sandbox::warden
