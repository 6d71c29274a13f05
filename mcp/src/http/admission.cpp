#include "http/admission.hpp"

#include "bawn/contract/lower_case.hpp"
#include "http/access.hpp"
#include "protocol.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace bawn::mcp {
namespace {

namespace http = boost::beast::http;

std::optional<HttpReply> wrong_method(const HttpRequest& request) {
  const bool session = header(request, "Mcp-Session-Id").has_value() &&
                       header(request, "MCP-Protocol-Version") != std::string(kModernVersion);
  const bool known =
      request.method() == http::verb::post ||
      (session && (request.method() == http::verb::get || request.method() == http::verb::delete_));
  if (known) {
    return std::nullopt;
  }
  HttpReply reply = refusal(http::status::method_not_allowed,
                            "the endpoint takes POST, and GET and DELETE with the id of a session");
  reply.set(http::field::allow, "POST");
  return reply;
}

std::optional<HttpReply> wrong_body(const HttpParser& parser) {
  const HttpRequest& request = parser.get();
  if (request.method() != http::verb::post) {
    // It would be read as the next request, which a proxy in front did not see as one.
    return parser.is_done() ? std::nullopt
                            : std::optional(refusal(http::status::bad_request,
                                                    "GET and DELETE have no body here"));
  }
  const auto coding = header(request, "Transfer-Encoding");
  if (coding && contract::lower_case(*coding) != "chunked") {
    return refusal(http::status::not_implemented, "Transfer-Encoding must be chunked");
  }
  const std::string type = contract::lower_case(header(request, "Content-Type").value_or(""));
  if (type.substr(0, type.find_first_of("; \t")) != kJson) {
    return refusal(http::status::unsupported_media_type, "Content-Type must be application/json");
  }
  const Accepts accepts = accepts_of(request);
  if (!accepts.json && !accepts.stream) {
    return refusal(http::status::not_acceptable,
                   "Accept must allow application/json and text/event-stream");
  }
  return std::nullopt;
}

/// A name that was rebound to this address, or a page of another site.
std::optional<HttpReply> wrong_site(const HttpRequest& request, const HttpOptions& options) {
  // A path has no name that could be rebound, and no page of a browser reaches it.
  const bool local = !options.unix_path.empty();
  if (!local && !is_allowed_host(header(request, "Host").value_or(""), options)) {
    return refusal(http::status::forbidden,
                   "the Host header names a host that is not allowed here");
  }
  const auto origin = header(request, "Origin");
  if (origin && (local || !is_allowed_origin(*origin, options))) {
    return refusal(http::status::forbidden, "requests of this Origin are not allowed");
  }
  return std::nullopt;
}

}  // namespace

std::expected<std::string, HttpReply> admit(const HttpParser& parser, const HttpOptions& options) {
  const HttpRequest& request = parser.get();
  if (request.target() == kHealthPath && request.method() == http::verb::get) {
    // Before all else: whoever watches over a container has no token and names the pod's address.
    return std::unexpected(health());
  }
  if (const auto twice = repeated_header(request)) {
    return std::unexpected(
        refusal(http::status::bad_request, fmt::format("the header {} is there twice", *twice)));
  }
  if (auto reply = wrong_site(request, options)) {
    return std::unexpected(*std::move(reply));
  }
  auto account = account_of(header(request, "Authorization").value_or(""), options);
  if (!account) {
    HttpReply reply = refusal(http::status::unauthorized, "a valid bearer token is needed");
    reply.set(http::field::www_authenticate, "Bearer");
    return std::unexpected(std::move(reply));
  }
  const std::string_view target = view(request.target());
  if (target.substr(0, target.find('?')) != options.path) {
    return std::unexpected(refusal(http::status::not_found, "the endpoint is " + options.path));
  }
  if (auto reply = wrong_method(request)) {
    return std::unexpected(*std::move(reply));
  }
  if (auto reply = wrong_body(parser)) {
    return std::unexpected(*std::move(reply));
  }
  return *std::move(account);
}

}  // namespace bawn::mcp
