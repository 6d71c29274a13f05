/// \file
/// Numbers of the kernel's interface that the plans use, kept here because the system's headers may
/// be older than the kernel that bawn runs on. Where a header has one, the two are compared.
#pragma once

#include <linux/landlock.h>
#include <sched.h>

#include <cstdint>

namespace bawn::sandbox::abi {

// Landlock file rights (linux/landlock.h). ABI 1 has bits 0 to 12.
inline constexpr std::uint64_t kExecute = 1ULL << 0;
inline constexpr std::uint64_t kWriteFile = 1ULL << 1;
inline constexpr std::uint64_t kReadFile = 1ULL << 2;
inline constexpr std::uint64_t kReadDir = 1ULL << 3;
inline constexpr std::uint64_t kRemoveDir = 1ULL << 4;
inline constexpr std::uint64_t kRemoveFile = 1ULL << 5;
inline constexpr std::uint64_t kMakeChar = 1ULL << 6;
inline constexpr std::uint64_t kMakeDir = 1ULL << 7;
inline constexpr std::uint64_t kMakeReg = 1ULL << 8;
inline constexpr std::uint64_t kMakeSock = 1ULL << 9;
inline constexpr std::uint64_t kMakeFifo = 1ULL << 10;
inline constexpr std::uint64_t kMakeBlock = 1ULL << 11;
inline constexpr std::uint64_t kMakeSym = 1ULL << 12;
inline constexpr std::uint64_t kRefer = 1ULL << 13;        // ABI 2, Linux 5.19
inline constexpr std::uint64_t kTruncate = 1ULL << 14;     // ABI 3, Linux 6.2
inline constexpr std::uint64_t kIoctlDev = 1ULL << 15;     // ABI 5, Linux 6.10
inline constexpr std::uint64_t kResolveUnix = 1ULL << 16;  // ABI 9, Linux 7.1

// Landlock network rights: ABI 4, Linux 6.7.
inline constexpr std::uint64_t kBindTcp = 1ULL << 0;
inline constexpr std::uint64_t kConnectTcp = 1ULL << 1;

// Landlock scopes: ABI 6, Linux 6.12.
inline constexpr std::uint64_t kScopeAbstractUnix = 1ULL << 0;
inline constexpr std::uint64_t kScopeSignal = 1ULL << 1;

// landlock_restrict_self flag, ABI 7, Linux 6.15: without it denials after an exec are not audited.
inline constexpr std::uint32_t kLogNewExecOn = 1U << 1;

/// Newest ABI whose meaning is known here; a newer kernel is used as this one.
inline constexpr int kNewestLandlockAbi = 9;

static_assert(kMakeSym == LANDLOCK_ACCESS_FS_MAKE_SYM);
static_assert(kMakeBlock == LANDLOCK_ACCESS_FS_MAKE_BLOCK);
static_assert(kExecute == LANDLOCK_ACCESS_FS_EXECUTE);
#ifdef LANDLOCK_ACCESS_FS_REFER
static_assert(kRefer == LANDLOCK_ACCESS_FS_REFER);
#endif
#ifdef LANDLOCK_ACCESS_FS_TRUNCATE
static_assert(kTruncate == LANDLOCK_ACCESS_FS_TRUNCATE);
#endif
#ifdef LANDLOCK_ACCESS_FS_IOCTL_DEV
static_assert(kIoctlDev == LANDLOCK_ACCESS_FS_IOCTL_DEV);
#endif
#ifdef LANDLOCK_ACCESS_FS_RESOLVE_UNIX
static_assert(kResolveUnix == LANDLOCK_ACCESS_FS_RESOLVE_UNIX);
#endif
#ifdef LANDLOCK_ACCESS_NET_BIND_TCP
static_assert(kBindTcp == LANDLOCK_ACCESS_NET_BIND_TCP);
static_assert(kConnectTcp == LANDLOCK_ACCESS_NET_CONNECT_TCP);
#endif
#ifdef LANDLOCK_SCOPE_SIGNAL
static_assert(kScopeAbstractUnix == LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET);
static_assert(kScopeSignal == LANDLOCK_SCOPE_SIGNAL);
#endif
#ifdef LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON
static_assert(kLogNewExecOn == LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON);
#endif

// clone(2) namespace bits (linux/sched.h).
inline constexpr std::uint64_t kNewTime = 0x00000080;  // Linux 5.6; shares a bit with CSIGNAL
inline constexpr std::uint64_t kNewMount = 0x00020000;
inline constexpr std::uint64_t kNewCgroup = 0x02000000;
inline constexpr std::uint64_t kNewUts = 0x04000000;
inline constexpr std::uint64_t kNewIpc = 0x08000000;
inline constexpr std::uint64_t kNewUser = 0x10000000;
inline constexpr std::uint64_t kNewPid = 0x20000000;
inline constexpr std::uint64_t kNewNet = 0x40000000;
static_assert(kNewMount == CLONE_NEWNS && kNewUser == CLONE_NEWUSER && kNewPid == CLONE_NEWPID);

}  // namespace bawn::sandbox::abi
