/// \file
/// Tokens of remote servers by OAuth's authorization-code flow.
/// Source: MCP 2026-07-28 and 2025-11-25, authorization; RFC 6749, 7636 (PKCE), 8414, 8707, 9207,
/// 9728, and 7591 where it is wanted.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/mcp/http_client.hpp"
#include "bawn/mcp/token_store.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace bawn::mcp {

/// What the authorization server gave back to the redirect URI.
struct AuthorizationReturn {
  std::string code{};
  std::string state{};
  std::optional<std::string> issuer{};  ///< `iss`
};

/// Has a person visit `url` and gives what came back to the redirect URI. Where a call is current
/// its elicitor is on `context`. Blocking: until the person is done, or `context` ends.
using AuthorizationFetcher = std::function<contract::Result<AuthorizationReturn>(
    const contract::Context& context, const std::string& url)>;

struct OAuthOptions {
  AuthorizationFetcher fetch{};         ///< must be there
  std::shared_ptr<TokenStore> store{};  ///< must be there
  /// A changed token could not be stored; must be there. The request goes on, and storing is tried
  /// again with the next one.
  std::function<void(const contract::Error&)> on_save_error{};
  std::string subject{};  ///< the user, of the token's key
  std::string redirect_uri = "http://127.0.0.1/callback";

  /// A client that the authorization server already knows. Its secret may be empty.
  std::string client_id{};
  std::string client_secret{};
  /// Otherwise: where the client's metadata document is (https), for servers that read it.
  std::string metadata_document{};
  /// Otherwise: registers itself (RFC 7591) where the server offers that.
  bool registers = false;
  std::string client_name = "bawn";

  std::chrono::milliseconds timeout = std::chrono::seconds(30);  ///< of each exchange
  std::string ca_file{};
};

/// An authorization for the server at `endpoint`, which begins with the stored token.
///
/// A 401 renews the token by its refresh token, else begins the flow; a 403 with
/// `insufficient_scope` begins it with the scopes that were asked for before and the wanted ones.
/// Metadata must be of the endpoint and of the issuer that it was asked of, and PKCE with S256 must
/// be offered; all URLs must be https, but for this machine's. Tokens are in no error and no log.
///
/// Errors: InvalidArgument when a part that must be there is missing; the store's.
[[nodiscard]] contract::Result<std::shared_ptr<Authorization>> oauth(std::string endpoint,
                                                                     OAuthOptions options);

}  // namespace bawn::mcp
