/// \file
/// Tools that run only when somebody allows it: an authorizer per call, an availability per caller.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/tool.hpp"

#include <functional>

namespace bawn::contract {

/// What an authorizer decides about. Its own copies: changing them changes no call.
struct AuthorizationRequest {
  Definition definition{};
  Json args{};  ///< an object; not yet checked against the tool's schema, unless a Binding did
};

/// True allows. An error means no, too; its text never reaches the model.
using Authorizer =
    std::function<Result<bool>(const Context& context, const AuthorizationRequest& request)>;

/// A tool that asks `authorizer` before each call (C-110, C-111). The order is: arguments are
/// read, cancellation is checked, the authorizer is asked, cancellation is checked, `inner` runs.
/// The authorizer is asked before `inner` validates: it may see arguments that the tool then
/// refuses. Where it must see validated ones, bind the guarded tool (`admission.hpp`): its calls
/// are prepared, schema and all, before the guard is reached.
///
/// The guarded tool's errors: `error: tool "<name>" is not authorized` with a Failure of kind
/// Rejected; `tool: authorization for "<name>" failed` with the policy's error as hidden cause; the
/// cancellation of the call's own context.
///
/// Errors: InvalidArgument when either is empty.
[[nodiscard]] Result<ToolPtr> guard(ToolPtr inner, Authorizer authorizer);

/// Whether the caller on the context may see and call a tool.
using AvailabilityPolicy = std::function<Result<bool>(const Context& context)>;

/// The same tool with one more condition: what it had is asked first, and `policy` only when that
/// said yes. Listing asks by `is_available`; a call asks again before its arguments are read and
/// ends with the errors of `check_available`. It replaces no check that the tool makes itself.
///
/// Errors: InvalidArgument when either is empty.
[[nodiscard]] Result<ToolPtr> with_availability(ToolPtr tool, AvailabilityPolicy policy);

/// Errors: PermissionDenied, `tool "<name>" is not available`; Internal, `availability of tool
/// "<name>" could not be decided`, with the policy's error as hidden cause.
[[nodiscard]] Result<> check_available(const Tool& tool, const Context& context);

}  // namespace bawn::contract
