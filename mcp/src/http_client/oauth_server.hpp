/// \file
/// What servers publish about how to be authorized, and the exchanges with them.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "http_client/transfer.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::mcp {

using contract::Json;

using FormFields = std::vector<std::pair<std::string, std::string>>;

/// `application/x-www-form-urlencoded`; fields with empty values are left out.
[[nodiscard]] std::string form_text(const FormFields& fields);
/// Everything but the unreserved characters of RFC 3986 as `%XX`.
[[nodiscard]] std::string percent_encoded(std::string_view text);
/// True for https, and for http to this machine.
[[nodiscard]] bool is_safe_url(const std::string& url);
/// A member that is a string; empty for everything else.
[[nodiscard]] std::string text_of_member(const Json& object, const char* name);
/// A member that is a list of strings.
[[nodiscard]] std::vector<std::string> texts_of_member(const Json& object, const char* name);

/// Exchanges with authorization servers; small JSON documents, no redirects.
class OAuthWeb {
 public:
  OAuthWeb(TransferOptions options, std::chrono::milliseconds timeout)
      : pool_(std::move(options)), timeout_(timeout) {}

  /// A document; null when the server has none there.
  [[nodiscard]] contract::Result<Json> get(const contract::Context& context,
                                           const std::string& url);
  struct Reply {
    int status = 0;
    Json body;
  };
  [[nodiscard]] contract::Result<Reply> post(const contract::Context& context,
                                             const std::string& url, const char* content_type,
                                             std::string body,
                                             const std::string& authorization = {});

  /// What the protected resource says of itself; null when it says nothing.
  /// Errors: PermissionDenied when it speaks of another resource.
  [[nodiscard]] contract::Result<Json> resource_metadata(const contract::Context& context,
                                                         const std::string& endpoint,
                                                         const std::optional<std::string>& given);
  /// Errors: PermissionDenied when there is none, or one of another issuer or without PKCE.
  [[nodiscard]] contract::Result<Json> server_metadata(const contract::Context& context,
                                                       const std::string& issuer);

 private:
  [[nodiscard]] contract::Result<HttpResponse> run(const contract::Context& context,
                                                   const HttpExchange& exchange);
  TransferPool pool_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace bawn::mcp
