#include "bawn/contract/approval.hpp"

#include "bawn/contract/executor.hpp"
#include "bawn/contract/lower_case.hpp"
#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace bawn::contract {
namespace {

bool is_approver(const std::string& name) {
  constexpr std::size_t kLongest = 128;
  return !name.empty() && name.size() <= kLongest &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f'; });
}

Result<> check(const ApprovalPolicy& policy) {
  if (policy.need == 0) {
    return fail(ErrorCode::InvalidArgument, "approval: at least one approver must be needed");
  }
  if (policy.approvers.size() < policy.need) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("approval: the number of approvers is {} and {} must agree",
                            policy.approvers.size(), policy.need));
  }
  std::set<std::string> seen;
  for (const std::string& name : policy.approvers) {
    if (!is_approver(name)) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("approval: an approver's name is 1 to 128 printable ASCII characters "
                              "without blanks, not {}",
                              quote(name)));
    }
    if (!seen.insert(lower_case(name)).second) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("approval: the approver {} comes twice", quote(name)));
    }
  }
  return {};
}

Result<bool> decide(const ApprovalPolicy& policy, const ApprovalQuestion& ask,
                    const Context& context, const AuthorizationRequest& request) {
  std::size_t agreed = 0;
  std::size_t left = policy.approvers.size();
  std::optional<Error> unasked;
  for (const std::string& approver : policy.approvers) {
    if (context.cancelled()) {
      return std::unexpected(cancellation_error(context));
    }
    if (agreed + left < policy.need) {
      break;
    }
    --left;
    const auto answer = ask(context, approver, AuthorizationRequest(request));
    if (!answer && !unasked) {
      unasked = answer.error();
    }
    agreed += answer.value_or(false) ? 1U : 0U;
    if (agreed == policy.need) {
      return true;
    }
  }
  return unasked ? Result<bool>(std::unexpected(*unasked)) : Result<bool>(false);
}

}  // namespace

Result<Authorizer> make_approval(ApprovalPolicy policy, ApprovalQuestion ask) {
  if (!ask) {
    return fail(ErrorCode::InvalidArgument, "approval: there is no function that asks");
  }
  BAWN_TRY(check(policy));
  return [policy = std::move(policy), ask = std::move(ask)](const Context& context,
                                                            const AuthorizationRequest& request) {
    return decide(policy, ask, context, request);
  };
}

}  // namespace bawn::contract
