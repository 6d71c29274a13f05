/// \file
/// A server over HTTP on a thread of its own, and the requests that clients send it.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/mcp/http.hpp"
#include "http_connection.hpp"

#include <chrono>
#include <future>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp::test {

using bawn::test::HttpConnection;
using bawn::test::HttpReply;
using Headers = std::map<std::string, std::string>;

class HttpFixture {
 public:
  explicit HttpFixture(std::vector<contract::ToolPtr> tools, ServerOptions server_options = {},
                       HttpOptions options = {});
  ~HttpFixture();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// A POST of `body` with the headers that a modern client sends for it, changed by `headers`; an
  /// empty value leaves a header out.
  [[nodiscard]] static std::string modern(const contract::Json& body, const Headers& headers = {});
  /// The same of an older client.
  [[nodiscard]] static std::string legacy(const contract::Json& body, const Headers& headers = {});
  /// Sends one request over a connection of its own.
  [[nodiscard]] HttpReply send(const std::string& request) const;
  [[nodiscard]] Server& server() { return server_; }
  HttpEnd stop();

 private:
  Server server_;
  contract::CancelSource source_;
  std::uint16_t port_ = 0;
  std::future<contract::Result<HttpEnd>> serving_;
};

/// A modern request's body.
[[nodiscard]] contract::Json modern_body(int id, const std::string& method,
                                         contract::Json params = contract::Json::object(),
                                         contract::Json capabilities = contract::Json::object());

/// The request that begins an older client's session.
[[nodiscard]] contract::Json legacy_begin();

/// Accounts whose tokens are sixteen times their first letter.
[[nodiscard]] std::vector<BearerToken> alice_and_bob();

/// The first text of a tool's answer.
[[nodiscard]] std::string text_of(const contract::Json& answer);

}  // namespace bawn::mcp::test
