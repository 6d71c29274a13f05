/// \file
/// A remote MCP server over streamable HTTP, as contract tools. A library of its own
/// (`bawn::mcp_http_client`, on libcurl), so that whoever needs only pipes links no HTTP.
/// Source: MCP 2026-07-28 and the revisions with a handshake; streamable HTTP transport.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/mcp/client.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::mcp {

/// What a server said when it refused a request's authorization.
struct AuthorizationChallenge {
  int status = 401;                       ///< 401, or 403 for a token that does not suffice
  std::string error{};                    ///< "insufficient_scope", "invalid_token", …
  std::optional<std::string> scope{};     ///< the scopes that it wants, by spaces
  std::optional<std::string> metadata{};  ///< where its metadata is (RFC 9728)
  std::string token{};                    ///< the token that was refused; empty for none
};

/// Gives a connection its bearer tokens. One user per connection.
///
/// Threads: must be thread-safe.
class Authorization {
 public:
  Authorization() = default;
  virtual ~Authorization() = default;
  Authorization(const Authorization&) = delete;
  Authorization& operator=(const Authorization&) = delete;

  /// The token to send; empty for none.
  [[nodiscard]] virtual contract::Result<std::string> token(const contract::Context& context) = 0;
  /// The server refused: gets another token. False when the request must not be sent again.
  [[nodiscard]] virtual contract::Result<bool> refused(const contract::Context& context,
                                                       const AuthorizationChallenge& challenge) = 0;
};

/// A token that was given beforehand.
[[nodiscard]] std::shared_ptr<Authorization> fixed_token(std::string token);

struct HttpClientOptions {
  /// Sent with each request to the server, for gateways in front of it.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::shared_ptr<Authorization> authorization{};
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);
  std::string ca_file{};  ///< PEM certificates to trust; empty: the system's
  /// How often a request is taken up again after its stream broke off, without anything new in
  /// between. Only where the server numbers its events.
  std::size_t max_resumptions = 5;
};

/// Agrees on the rules with the server at `url` (http or https). Redirects are not followed: the
/// token would go with them. The tools behave as those of Client::connect(); in the newer rules
/// those are left out, with a line in the log, whose `x-mcp-header` marks no client can follow.
///
/// Errors: InvalidArgument for a bad URL; Closed when the server cannot be reached;
/// PermissionDenied when it refuses; those of Client::connect(). Blocking: until agreed, or
/// `context` ends.
[[nodiscard]] contract::Result<std::shared_ptr<Client>> connect_http(
    const contract::Context& context, std::string_view url, ClientOptions options = {},
    HttpClientOptions http = {});

}  // namespace bawn::mcp
