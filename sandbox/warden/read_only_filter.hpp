/// \file
/// The filter of a call that may change nothing. Landlock has no right for modes, owners, times and
/// attributes, and no filter sees which file is meant: they are refused for all.
#pragma once

#include "syscalls.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace bawn::sandbox::warden {

/// Calls that the C library's headers may not know; from 424 on numbers are everywhere the same.
inline constexpr std::uint32_t kSetxattrat = 463;
inline constexpr std::uint32_t kRemovexattrat = 466;
inline constexpr std::uint32_t kFileSetattr = 469;

/// Refused with EPERM.
inline constexpr std::uint32_t kChangesOfModesAndTimes[] = {
#ifdef SYS_chmod  // architectures that came later have the calls with a directory only
    SYS_chmod,  SYS_chown,    SYS_lchown, SYS_utime,  SYS_utimes,   SYS_futimesat,
#endif
    SYS_fchmod, SYS_fchmodat, kFchmodat2, SYS_fchown, SYS_fchownat, SYS_utimensat,
};
/// Refused with EOPNOTSUPP, as the session's own filter does.
inline constexpr std::uint32_t kChangesOfAttributes[] = {
    SYS_setxattr,     SYS_lsetxattr, SYS_fsetxattr,  SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, kSetxattrat,   kRemovexattrat, kFileSetattr,
};

inline constexpr std::size_t kReadOnlyTests =
    std::size(kChangesOfModesAndTimes) + std::size(kChangesOfAttributes);

/// A call by another ABI of the machine ends the process, as under the session's own filter.
constexpr std::array<sock_filter, kReadOnlyTests + 8> make_read_only_filter() noexcept {
#if defined(__x86_64__)
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the filter of calls that only read needs this architecture's number"
#endif
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t kEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
  std::array<sock_filter, kReadOnlyTests + 8> program{};
  std::size_t at = 0;
  program[at++] = {kLoad, 0, 0, offsetof(seccomp_data, arch)};
  program[at++] = {kEqual, 1, 0, kArchitecture};
  program[at++] = {kReturn, 0, 0, SECCOMP_RET_KILL_PROCESS};
  program[at++] = {kLoad, 0, 0, offsetof(seccomp_data, nr)};
  // Bit 30 marks calls of x32, which has the same numbers for all of these.
  program[at++] = {BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xbfffffff};
  std::size_t left = kReadOnlyTests;
  for (const std::uint32_t number : kChangesOfModesAndTimes) {
    program[at++] = {kEqual, static_cast<std::uint8_t>(left), 0, number};
    --left;
  }
  for (const std::uint32_t number : kChangesOfAttributes) {
    program[at++] = {kEqual, static_cast<std::uint8_t>(left + 1), 0, number};
    --left;
  }
  program[at++] = {kReturn, 0, 0, SECCOMP_RET_ALLOW};
  program[at++] = {kReturn, 0, 0, SECCOMP_RET_ERRNO | EPERM};
  program[at++] = {kReturn, 0, 0, SECCOMP_RET_ERRNO | EOPNOTSUPP};
  return program;
}

inline constexpr std::array kReadOnlyFilter = make_read_only_filter();

}  // namespace bawn::sandbox::warden
