/// \file
/// What a tool finds on its context beside cancellation: the call that it serves, the session and
/// the caller.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/tool.hpp"

#include <string>
#include <vector>

namespace bawn::contract {

/// A child of `context` that carries `call`. Whoever runs tools (executor, server) does this for
/// every one of them (C-61).
[[nodiscard]] Context with_call(const Context& context, Call call);
/// The nearest call, or null outside of one. The pointer lives as long as the context's chain.
[[nodiscard]] const Call* call_from(const Context& context) noexcept;

/// Carries the session that a call belongs to; per-client state of a tool is keyed on it.
[[nodiscard]] Context with_session(const Context& context, std::string id);
/// The session's id, or null when the call belongs to none.
[[nodiscard]] const std::string* session_from(const Context& context) noexcept;

/// Who is calling, as the front's access token says.
struct Caller {
  std::string account{};
  std::string client_id{};
  std::vector<std::string> scopes{};
};

[[nodiscard]] Context with_caller(const Context& context, Caller caller);
/// The caller, or null when the front knows none.
[[nodiscard]] const Caller* caller_from(const Context& context) noexcept;

}  // namespace bawn::contract
