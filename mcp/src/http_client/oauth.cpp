#include "bawn/mcp/oauth.hpp"

#include "bawn/contract/canonical.hpp"
#include "headers.hpp"
#include "http_client/oauth_server.hpp"

#include <fmt/format.h>

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>

namespace bawn::mcp {
namespace {

using contract::Context;
using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

constexpr const char* kForm = "application/x-www-form-urlencoded";

std::string base64_url(std::string_view bytes) {
  std::string text = encode_base64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.erase(std::min(text.find('='), text.size()));
  return text;
}

Result<std::string> random_text() {
  std::array<char, 32> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return fail(ErrorCode::Internal, "the system has no randomness");
  }
  return base64_url({random.data(), random.size()});
}

/// The PKCE challenge of a verifier (RFC 7636, S256).
std::string challenge_of(const std::string& verifier) {
  const std::string hex = contract::sha256_hex(verifier);
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  return base64_url(bytes);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

/// All words of both, each once.
std::string joined(const std::string& first, const std::string& second) {
  std::string text;
  std::set<std::string> seen;
  for (const std::string& part : {first, second}) {
    for (const std::string& word : words_of(part)) {
      if (seen.insert(word).second) {
        text += (text.empty() ? "" : " ") + word;
      }
    }
  }
  return text;
}

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// Threads: thread-safe; one authorization at a time.
class OAuth final : public Authorization {
 public:
  OAuth(std::string endpoint, OAuthOptions options, std::optional<StoredToken> stored)
      : endpoint_(std::move(endpoint)),
        options_(std::move(options)),
        web_({.ca_file = options_.ca_file, .max_body_bytes = 1U << 20U}, options_.timeout),
        token_(std::move(stored).value_or(StoredToken{})) {}

  Result<std::string> token(const Context& context) override {
    const std::scoped_lock lock(mutex_);
    if (unsaved_) {
      save();
    }
    // One that cannot be renewed is sent all the same: the server's refusal begins the flow.
    if (token_.expires_at != 0 && token_.expires_at <= std::time(nullptr) &&
        !token_.refresh_token.empty()) {
      BAWN_TRY(renew(context));
    }
    return token_.access_token;
  }

  Result<bool> refused(const Context& context, const AuthorizationChallenge& challenge) override {
    const std::scoped_lock lock(mutex_);
    if (challenge.token != token_.access_token) {
      return true;  // another call got a new one meanwhile
    }
    if (challenge.status == 401 && !token_.refresh_token.empty() && BAWN_TRY(renew(context))) {
      return true;
    }
    BAWN_TRY(authorize(context, challenge));
    return true;
  }

 private:
  struct Client {
    std::string id;
    std::string secret;
    std::string method;
  };

  void save() {
    const auto saved =
        options_.store->save({.endpoint = endpoint_, .subject = options_.subject}, token_);
    unsaved_ = !saved;
    if (!saved) {
      options_.on_save_error(saved.error());
    }
  }

  [[nodiscard]] Result<OAuthWeb::Reply> ask_for_token(const Context& context,
                                                      const std::string& url, const Client& client,
                                                      FormFields fields) {
    std::string authorization;
    if (client.method == "client_secret_basic") {
      authorization = "Basic " + encode_base64(percent_encoded(client.id) + ":" +
                                               percent_encoded(client.secret));
    } else {
      fields.emplace_back("client_id", client.id);
      if (client.method == "client_secret_post") {
        fields.emplace_back("client_secret", client.secret);
      }
    }
    fields.emplace_back("resource", token_.resource);
    return web_.post(context, url, kForm, form_text(fields), authorization);
  }

  /// Takes a token answer; false when it is none.
  bool take(const OAuthWeb::Reply& reply) {
    const std::string access = text_of_member(reply.body, "access_token");
    if (reply.status != 200 || access.empty()) {
      return false;
    }
    token_.access_token = access;
    // A server that does not rotate the refresh token leaves it out.
    if (const std::string fresh = text_of_member(reply.body, "refresh_token"); !fresh.empty()) {
      token_.refresh_token = fresh;
    }
    const Json seconds = reply.body.value("expires_in", Json());
    token_.expires_at =
        seconds.is_number_integer() ? std::time(nullptr) + seconds.get<std::int64_t>() : 0;
    save();
    return true;
  }

  /// False when the refresh token is of no more use; it is forgotten then.
  Result<bool> renew(const Context& context) {
    const auto reply = BAWN_TRY(ask_for_token(
        context, token_.token_url,
        {.id = token_.client_id, .secret = token_.client_secret, .method = token_.auth_method},
        {{"grant_type", "refresh_token"}, {"refresh_token", token_.refresh_token}}));
    if (take(reply)) {
      return true;
    }
    token_.refresh_token.clear();
    return false;
  }

  Result<> authorize(const Context& context, const AuthorizationChallenge& challenge) {
    const Json resource = BAWN_TRY(web_.resource_metadata(context, endpoint_, challenge.metadata));
    const auto servers = texts_of_member(resource, "authorization_servers");
    if (servers.empty()) {
      return fail(ErrorCode::PermissionDenied,
                  "the server wants an authorization, but names no authorization server");
    }
    const std::string& issuer = servers.front();
    const Json server = BAWN_TRY(web_.server_metadata(context, issuer));
    const Client client = BAWN_TRY(client_for(context, issuer, server));
    const std::string scope = scope_for(challenge, resource, server);
    const std::string name = text_of_member(resource, "resource");
    const std::string verifier = BAWN_TRY(random_text());
    const std::string code = BAWN_TRY(fetch_code(context, server, client, scope, name, verifier));
    const std::string token_url = text_of_member(server, "token_endpoint");
    token_ = {.issuer = issuer,
              .token_url = token_url,
              .resource = name,
              .auth_method = client.method,
              .client_id = client.id,
              .client_secret = client.secret,
              .scope = scope};
    const auto reply = BAWN_TRY(ask_for_token(context, token_url, client,
                                              {{"grant_type", "authorization_code"},
                                               {"code", code},
                                               {"redirect_uri", options_.redirect_uri},
                                               {"code_verifier", verifier}}));
    if (!take(reply)) {
      return fail(ErrorCode::PermissionDenied,
                  fmt::format("the authorization server gave no token (HTTP {}, {})", reply.status,
                              shown(text_of_member(reply.body, "error"))));
    }
    return {};
  }

  /// What the server wants, else all that it has; once something was granted, also that.
  [[nodiscard]] std::string scope_for(const AuthorizationChallenge& challenge, const Json& resource,
                                      const Json& server) const {
    std::string scope;
    if (challenge.scope) {
      scope = *challenge.scope;
    } else {
      for (const std::string& one : texts_of_member(resource, "scopes_supported")) {
        scope = joined(scope, one);
      }
    }
    if (challenge.status == 403) {
      scope = joined(token_.scope, scope);
    }
    return contains(texts_of_member(server, "scopes_supported"), "offline_access")
               ? joined(scope, "offline_access")
               : scope;
  }

  /// A client that is known at this issuer, and at no other.
  Result<Client> client_for(const Context& context, const std::string& issuer, const Json& server) {
    const auto methods = texts_of_member(server, "token_endpoint_auth_methods_supported");
    if (!options_.client_id.empty()) {
      return Client{.id = options_.client_id,
                    .secret = options_.client_secret,
                    .method = method_for(options_.client_secret, methods)};
    }
    if (!token_.client_id.empty() && token_.issuer == issuer) {
      return Client{
          .id = token_.client_id, .secret = token_.client_secret, .method = token_.auth_method};
    }
    if (!options_.metadata_document.empty() &&
        server.value("client_id_metadata_document_supported", Json()) == true) {
      return Client{.id = options_.metadata_document, .secret = {}, .method = "none"};
    }
    const std::string url = text_of_member(server, "registration_endpoint");
    if (!options_.registers || url.empty()) {
      return fail(
          ErrorCode::PermissionDenied,
          fmt::format("{} knows no client of ours: one must be registered there", shown(issuer)));
    }
    return register_at(context, url, methods);
  }

  static std::string method_for(const std::string& secret,
                                const std::vector<std::string>& methods) {
    if (secret.empty()) {
      return "none";
    }
    // RFC 8414: without a list, the server takes the first.
    return methods.empty() || contains(methods, "client_secret_basic") ? "client_secret_basic"
                                                                       : "client_secret_post";
  }

  Result<Client> register_at(const Context& context, const std::string& url,
                             const std::vector<std::string>& methods) {
    const std::string wanted =
        methods.empty() || contains(methods, "none") ? "none" : methods.front();
    const Json request = {{"client_name", options_.client_name},
                          {"redirect_uris", {options_.redirect_uri}},
                          {"application_type", "native"},
                          {"grant_types", {"authorization_code", "refresh_token"}},
                          {"response_types", {"code"}},
                          {"token_endpoint_auth_method", wanted}};
    const auto reply =
        BAWN_TRY(web_.post(context, url, "application/json", contract::dump_json(request)));
    Client client{.id = text_of_member(reply.body, "client_id"),
                  .secret = text_of_member(reply.body, "client_secret"),
                  .method = text_of_member(reply.body, "token_endpoint_auth_method")};
    if (client.id.empty()) {
      return fail(
          ErrorCode::PermissionDenied,
          fmt::format("the authorization server registered no client (HTTP {})", reply.status));
    }
    if (client.method.empty()) {
      client.method = wanted;
    }
    return client;
  }

  Result<std::string> fetch_code(const Context& context, const Json& server, const Client& client,
                                 const std::string& scope, const std::string& resource,
                                 const std::string& verifier) {
    const std::string page = text_of_member(server, "authorization_endpoint");
    if (!is_safe_url(page) || !is_safe_url(text_of_member(server, "token_endpoint"))) {
      return fail(ErrorCode::PermissionDenied,
                  "the authorization server's endpoints are missing or not https");
    }
    const std::string state = BAWN_TRY(random_text());
    const std::string url = page + (page.find('?') == std::string::npos ? "?" : "&") +
                            form_text({{"response_type", "code"},
                                       {"client_id", client.id},
                                       {"redirect_uri", options_.redirect_uri},
                                       {"code_challenge", challenge_of(verifier)},
                                       {"code_challenge_method", "S256"},
                                       {"state", state},
                                       {"scope", scope},
                                       {"resource", resource}});
    const AuthorizationReturn came = BAWN_TRY(options_.fetch(context, url));
    if (came.state != state) {
      return fail(ErrorCode::PermissionDenied,
                  "what came back belongs to another authorization (state)");
    }
    const bool promised =
        server.value("authorization_response_iss_parameter_supported", Json()) == true;
    if (came.issuer ? *came.issuer != text_of_member(server, "issuer") : promised) {
      return fail(ErrorCode::PermissionDenied,
                  "what came back is of another authorization server (iss)");
    }
    if (came.code.empty()) {
      return fail(ErrorCode::PermissionDenied, "the authorization was not given");
    }
    return came.code;
  }

  const std::string endpoint_;
  const OAuthOptions options_;
  OAuthWeb web_;
  std::mutex mutex_;
  StoredToken token_;
  bool unsaved_ = false;
};

}  // namespace

Result<std::shared_ptr<Authorization>> oauth(std::string endpoint, OAuthOptions options) {
  if (!options.fetch || options.store == nullptr || !options.on_save_error) {
    return fail(ErrorCode::InvalidArgument,
                "OAuth needs a way to the person, a store and somebody who hears that it failed");
  }
  if (!is_safe_url(endpoint)) {
    return fail(ErrorCode::InvalidArgument,
                shown(endpoint) + " is not https: a token would be seen on the way");
  }
  auto stored = BAWN_TRY(options.store->load({.endpoint = endpoint, .subject = options.subject}));
  return std::make_shared<OAuth>(std::move(endpoint), std::move(options), std::move(stored));
}

}  // namespace bawn::mcp
