/// \file
/// An authorizer that asks people: so many of those named must agree before a call runs.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/guard.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bawn::contract {

/// Who decides, and how many of them must agree.
struct ApprovalPolicy {
  std::size_t need = 1;
  std::vector<std::string> approvers{};  ///< in the order in which they are asked
};

/// Asks one of them about one call. The request is a copy of its own.
///
/// Errors: it could not be asked, which is not a no.
/// Blocking: until there is an answer or the context ends.
/// Threads: called concurrently for several calls.
using ApprovalQuestion = std::function<Result<bool>(
    const Context& context, const std::string& approver, const AuthorizationRequest& request)>;

/// Says yes once `policy.need` of the approvers did. They are asked one after the other, and nobody
/// once it is decided either way. Who could not be asked did not agree; when that decides, the
/// authorizer fails with the first such error; it fails as cancelled when the context ended before
/// it was decided. For `guard` and for a remote tool's `approval`.
///
/// Errors: InvalidArgument for an empty function, a need of nobody, no approvers, fewer than are
/// needed, one who comes twice (in whatever case), and for names that are not 1 to 128 printable
/// ASCII characters without blanks: two spellings of one person could count as two people.
[[nodiscard]] Result<Authorizer> make_approval(ApprovalPolicy policy, ApprovalQuestion ask);

}  // namespace bawn::contract
