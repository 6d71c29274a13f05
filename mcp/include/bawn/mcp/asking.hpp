/// \file
/// What a tool, a prompt or a resource may want of the client that called it, beyond the contract's
/// elicitation: several requests at once, log messages, its capabilities. All of it needs the
/// context of a running request and says so otherwise.
/// Source: MCP 2026-07-28, multi round-trip requests; older revisions, client features.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// One request to the client: `elicitation/create`, `sampling/createMessage` or `roots/list`.
struct InputRequest {
  std::string key{};  ///< names the answer; unique among the requests of one ask_client()
  std::string method{};
  contract::Json params = contract::Json::object();
  /// Whether an answer will do; empty takes any object. A modern client is asked again otherwise.
  std::function<contract::Result<>(const contract::Json& answer)> check{};
};

/// Asks the client and gives its answers by key.
///
/// To a modern client the requests go as the result of the call that is running, which then waits
/// for the client's next request; to an older one as requests of ours beside the call.
///
/// Errors: Unsupported when there is no client to ask, or it did not declare the capability (with a
/// MissingCapability); Cancelled; DeadlineExceeded after ServerOptions::ask_timeout;
/// ResourceExhausted after ServerOptions::max_rounds, or when too many calls wait already;
/// ToolFailed when an older client answered with an error.
/// Blocking: until the answers are there.
[[nodiscard]] contract::Result<std::map<std::string, contract::Json>> ask_client(
    const contract::Context& context, std::vector<InputRequest> requests);

/// True when the client declared `capability` ("elicitation", "sampling", "roots").
[[nodiscard]] bool client_offers(const contract::Context& context, std::string_view capability);

/// The payload of an error that stands for -32021: the call cannot run at all without it.
struct MissingCapability {
  contract::Json required = contract::Json::object();  ///< shaped like ClientCapabilities
};

/// Errors: Unsupported with a MissingCapability when the client did not declare `capability`.
[[nodiscard]] contract::Result<> require_capability(const contract::Context& context,
                                                    std::string_view capability);

/// How grave a log message is, as in RFC 5424.
enum class LogLevel { Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency };

/// Sends a log message with the running request. Nothing happens unless the client asked for that
/// level: a modern one by its request, an older one when ServerOptions::logging is set.
void log_to_client(const contract::Context& context, LogLevel level, const contract::Json& data,
                   std::string_view logger = {});

}  // namespace bawn::mcp
