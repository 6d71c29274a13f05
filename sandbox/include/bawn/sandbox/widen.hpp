/// \file
/// One more path or host for one call: what a request for it means under a policy, before anybody
/// decides. Pure; nothing is granted here.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <string>
#include <vector>

namespace bawn::sandbox {

/// What a call asks for beyond its session's policy.
struct WideningRequest {
  std::vector<std::string> write{};  ///< directories, or protected names that are to be writable
  std::vector<std::string> read{};   ///< secrets
  std::vector<std::string> hosts{};  ///< entries as in Policy::hosts
};

/// The policy that would hold, and what it would open. Entries of `secrets` and `protected_names`
/// need a word of their own: a plain yes is not about them.
struct Widening {
  Policy policy;
  std::vector<std::string> write;            ///< canonical directories
  std::vector<std::string> hosts;            ///< as asked for
  std::vector<std::string> secrets;          ///< canonical paths that become readable
  std::vector<std::string> protected_names;  ///< names that are no longer held, below every root
};

/// Works out the policy that gives what is asked for and nothing else. `place` is the survey of
/// `policy` for the call's workspace; "~/" in a path is its home.
///
/// Errors: InvalidArgument in one sentence for what is empty, cannot be given, or is given already:
/// a policy without a wall, a path that does not exist or is no directory, "/", bawn's own state,
/// a part of a secret, a host that is none.
/// Blocking: file status calls.
[[nodiscard]] Result<Widening> widen(const Policy& policy, const Place& place,
                                     const WideningRequest& request);

}  // namespace bawn::sandbox
