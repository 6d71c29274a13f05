/// \file
/// The simplest client of an HTTP server: bytes out, replies in, each message in them held against
/// the schema.
#pragma once

#include "bawn/contract/json.hpp"
#include "wire_check.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::test {

/// A reply as far as the tests look at it.
struct HttpReply {
  int status = 0;
  std::string head;                            ///< the lines before the body, without the last end
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;                            ///< chunks joined

  [[nodiscard]] contract::Json json() const { return contract::parse_json(body).value_or(nullptr); }
  /// The body, or what the events of a stream carry.
  [[nodiscard]] std::vector<std::string> messages() const;
};

/// One connection.
class HttpConnection {
 public:
  explicit HttpConnection(std::uint16_t port);
  /// To a unix socket.
  explicit HttpConnection(const std::string& path);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void write(std::string_view bytes);
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
  void read_body(HttpReply& reply);
  int fd_ = -1;
  std::string buffer_;
  WireCheck check_;
};

}  // namespace bawn::test
