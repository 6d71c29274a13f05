/// \file
/// Denials: what the kernel's records, the proxy and the supervisor of connect(2) say, which is
/// certain, and by replay what of a failed call the policy would refuse. Since a command's words
/// may lie, the second only ever says "possible", and nothing is widened by it.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/sandbox/policy.hpp"
#include "bawn/shell/call_result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::shell {

struct Denial {
  std::string op;  ///< "read", "write", "execute", "connect", "bind", "signal", "trace", "mount"
  std::string target;  ///< path or address
  std::string layer;   ///< the layers of the session that hold the rule
  std::string rule;
  std::string hint;
  std::string evidence = "replay";  ///< or "audit", "proxy", "notification"
  bool confirmed = false;           ///< by those who refused it; what replay finds never is
  /// True when the process was seen in the call's tree; else it is the session's.
  bool of_call = false;
  int pid = 0;          ///< host number; 0 = not known
  std::string program;  ///< absolute path; empty = not known
};

/// What the policy is asked about.
struct DenialContext {
  const sandbox::Policy* policy = nullptr;
  const contract::Confinement* confinement = nullptr;
  std::string workspace;
  std::string home;
  std::string cwd;        ///< for relative paths
  std::uint32_t uid = 0;  ///< who the command ran as, to leave out what plain permissions refuse
  std::uint32_t gid = 0;
};

/// Paths that lines of `text` name beside a refusal ("Permission denied", "Read-only file system",
/// "Operation not permitted"), at most 16, as written.
[[nodiscard]] std::vector<std::string> refused_paths(std::string_view text);

/// Empty when the call succeeded, or when nothing in it points at the policy.
[[nodiscard]] std::vector<Denial> possible_denials(const CallResult& result,
                                                   const DenialContext& context);

/// Whether the policy keeps `program` (absolute) unreadable, so that execve(2) had to refuse it.
[[nodiscard]] bool refuses_program(const std::string& program, const sandbox::Policy& policy,
                                   const std::string& home);

/// What was refused for certain, each target once, at most 16.
[[nodiscard]] std::vector<Denial> confirmed_denials(const CallResult& result);

}  // namespace bawn::shell
