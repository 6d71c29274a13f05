#include "http_client/oauth_server.hpp"

#include "json_rpc.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

namespace bawn::mcp {
namespace {

using contract::Context;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

struct Url {
  std::string scheme;
  std::string host;
  std::string origin;  ///< scheme, host and port
  std::string path;    ///< without a final slash
};

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) {
    return "";
  }
  std::string result(text);
  curl_free(text);
  return result;
}

std::optional<Url> read_url(const std::string& text) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> handle(curl_url(), curl_url_cleanup);
  if (handle == nullptr ||
      curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  Url url{.scheme = part_of(handle.get(), CURLUPART_SCHEME),
          .host = part_of(handle.get(), CURLUPART_HOST),
          .origin = {},
          .path = part_of(handle.get(), CURLUPART_PATH)};
  const std::string port = part_of(handle.get(), CURLUPART_PORT);
  url.origin = url.scheme + "://" + url.host + (port.empty() ? "" : ":" + port);
  while (url.path.ends_with('/')) {
    url.path.pop_back();
  }
  return url;
}

/// True when `endpoint` is `resource` or below it.
bool covers(const std::string& resource, const std::string& endpoint) {
  const auto outer = read_url(resource);
  const auto inner = read_url(endpoint);
  return outer && inner && outer->origin == inner->origin &&
         (inner->path == outer->path || inner->path.starts_with(outer->path + "/"));
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte) != 0) || c == '-' || c == '.' || c == '_' || c == '~') {
      result += c;
    } else {
      result += fmt::format("%{:02X}", byte);
    }
  }
  return result;
}

std::string form_text(const FormFields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) {
    if (!value.empty()) {
      text += (text.empty() ? "" : "&") + name + "=" + percent_encoded(value);
    }
  }
  return text;
}

bool is_safe_url(const std::string& text) {
  const auto url = read_url(text);
  return url && (url->scheme == "https" ||
                 (url->scheme == "http" &&
                  (url->host == "localhost" || url->host == "127.0.0.1" || url->host == "[::1]")));
}

std::string text_of_member(const Json& object, const char* name) {
  const Json value = object.is_object() ? object.value(name, Json()) : Json();
  return value.is_string() ? value.get<std::string>() : "";
}

std::vector<std::string> texts_of_member(const Json& object, const char* name) {
  std::vector<std::string> texts;
  const Json list = object.is_object() ? object.value(name, Json()) : Json();
  for (const Json& one : list.is_array() ? list : Json::array()) {
    if (one.is_string()) {
      texts.push_back(one.get<std::string>());
    }
  }
  return texts;
}

Result<HttpResponse> OAuthWeb::run(const Context& context, const HttpExchange& exchange) {
  if (!is_safe_url(exchange.url)) {
    return fail(ErrorCode::PermissionDenied,
                fmt::format("{} is not https: nothing is sent there", shown(exchange.url)));
  }
  const auto transfer = BAWN_TRY(pool_.lease());
  return transfer->run(context, Transfer::Clock::now() + timeout_, exchange, pool_.options());
}

Result<Json> OAuthWeb::get(const Context& context, const std::string& url) {
  const HttpResponse response = BAWN_TRY(
      run(context, {.method = "GET", .url = url, .headers = {{"Accept", "application/json"}}}));
  auto document = contract::parse_json(response.body);
  return response.status == 200 && document && document->is_object() ? *std::move(document)
                                                                     : Json();
}

Result<OAuthWeb::Reply> OAuthWeb::post(const Context& context, const std::string& url,
                                       const char* content_type, std::string body,
                                       const std::string& authorization) {
  HttpExchange exchange{.url = url,
                        .headers = {{"Accept", "application/json"}, {"Content-Type", content_type}},
                        .body = std::move(body)};
  if (!authorization.empty()) {
    exchange.headers.emplace_back("Authorization", authorization);
  }
  const HttpResponse response = BAWN_TRY(run(context, exchange));
  return Reply{.status = response.status,
               .body = contract::parse_json(response.body).value_or(Json())};
}

Result<Json> OAuthWeb::resource_metadata(const Context& context, const std::string& endpoint,
                                         const std::optional<std::string>& given) {
  const auto url = read_url(endpoint);
  if (!url) {
    return fail(ErrorCode::InvalidArgument, shown(endpoint) + " is no URL");
  }
  const std::string known = "/.well-known/oauth-protected-resource";
  std::vector<std::string> places;
  if (given) {
    places = {*given};
  } else {
    places = {url->origin + known + url->path, url->origin + known};
  }
  for (const std::string& place : places) {
    Json document = BAWN_TRY(get(context, place));
    if (!document.is_object()) {
      continue;
    }
    if (!covers(text_of_member(document, "resource"), endpoint)) {
      return fail(ErrorCode::PermissionDenied, "the server's metadata is of another resource: " +
                                                   shown(text_of_member(document, "resource")));
    }
    return document;
  }
  return Json();
}

Result<Json> OAuthWeb::server_metadata(const Context& context, const std::string& issuer) {
  const auto url = read_url(issuer);
  if (!url) {
    return fail(ErrorCode::PermissionDenied,
                shown(issuer) + " is no URL of an authorization server");
  }
  const std::string oauth = "/.well-known/oauth-authorization-server";
  const std::string openid = "/.well-known/openid-configuration";
  std::vector<std::string> places = {url->origin + oauth + url->path,
                                     url->origin + openid + url->path};
  if (!url->path.empty()) {
    places.push_back(url->origin + url->path + openid);
  }
  for (const std::string& place : places) {
    Json document = BAWN_TRY(get(context, place));
    if (!document.is_object()) {
      continue;
    }
    if (text_of_member(document, "issuer") != issuer) {
      return fail(ErrorCode::PermissionDenied,
                  fmt::format("the metadata of {} is of another issuer, {}", shown(issuer),
                              shown(text_of_member(document, "issuer"))));
    }
    const auto methods = texts_of_member(document, "code_challenge_methods_supported");
    if (std::ranges::find(methods, "S256") == methods.end()) {
      return fail(ErrorCode::PermissionDenied,
                  fmt::format("{} does not offer PKCE with S256", shown(issuer)));
    }
    return document;
  }
  return fail(ErrorCode::PermissionDenied,
              fmt::format("{} publishes no metadata of an authorization server", shown(issuer)));
}

}  // namespace bawn::mcp
