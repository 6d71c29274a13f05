/// \file
/// The filter as data: what is refused, with which error, when, and why.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bawn::sandbox {

/// One test of a system call's argument.
struct ArgTest {
  enum class Kind { Equal, NotEqual, Greater, MaskedEqual };
  unsigned int index = 0;  ///< argument 0..5
  Kind kind = Kind::Equal;
  std::uint64_t value = 0;
  std::uint64_t mask = 0;  ///< for MaskedEqual
};

/// When a rule is part of the filter.
enum class When {
  Always,
  NoPidNamespace,        ///< other processes can be named by number
  NoIpcNamespace,        ///< System V IPC and POSIX queues are the host's
  SocketsWhole,          ///< nothing finer holds: no socket() at all
  SocketsUnixOnly,       ///< no network namespace and no network, Unix sockets are safe
  SocketsInside,         ///< a network namespace or the full network: choose by family
  SocketsInsideNoUnix,   ///< the same, but Unix sockets would reach the host's
  Supervised,            ///< connect(2) is judged: no other way to connect
  SupervisedInside,      ///< and without a network namespace: TCP only
  HostSocketsReachable,  ///< a Unix datagram socket could send to a path of the host's
};

/// One refused system call.
struct SeccompRule {
  const char* name;  ///< as libseccomp knows it
  int number;        ///< of calls that libseccomp 2.5 may not know by name, else -1
  int error;         ///< errno that the caller gets
  When when;
  std::vector<ArgTest> tests;  ///< all must hold; empty = always refused
  const char* reason;
};

/// All rules there are. Constants are those of the machine that this is built for.
[[nodiscard]] const std::vector<SeccompRule>& seccomp_rules();

/// Which conditions hold, a bit for each `When`: all that a filter depends on.
[[nodiscard]] std::uint32_t conditions_of(const Policy& policy,
                                          const SeccompSituation& situation) noexcept;

/// True when `rule` belongs into the filter where these conditions hold.
[[nodiscard]] bool applies(const SeccompRule& rule, std::uint32_t conditions) noexcept;

/// The rules that apply, compiled for one architecture of libseccomp (SCMP_ARCH_*). Every other ABI
/// of that machine is closed: a call by it kills the process, but for x32, which gets ENOSYS. For
/// another machine than this one, calls that libseccomp does not know by name are left out.
///
/// Errors: Unsupported (libseccomp does not know the architecture), ResourceExhausted, Internal.
[[nodiscard]] Result<std::vector<BpfInstruction>> compile_filter(std::uint32_t architecture,
                                                                 std::uint32_t conditions);

}  // namespace bawn::sandbox
