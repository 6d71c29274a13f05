/// \file
/// A server over HTTP on a thread of its own, and the simplest client: bytes out, bytes in.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/mcp/http.hpp"

#include <chrono>
#include <future>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp::test {

/// A reply as far as the tests look at it.
struct HttpReply {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;                            ///< chunks joined

  [[nodiscard]] contract::Json json() const { return contract::parse_json(body).value_or(nullptr); }
};

/// One connection.
class HttpConnection {
 public:
  explicit HttpConnection(std::uint16_t port);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void write(std::string_view bytes) const;
  /// Reads until `text` has come; false when the connection ends or a minute passes.
  bool read_until(std::string_view text);
  /// A whole reply; status 0 when none comes.
  HttpReply reply();
  /// True when the other side has closed within a minute.
  bool is_closed();
  void close();
  [[nodiscard]] const std::string& seen() const { return buffer_; }

 private:
  bool read_some();
  int fd_ = -1;
  std::string buffer_;
};

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

}  // namespace bawn::mcp::test
