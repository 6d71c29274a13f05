/// \file
/// The head of a request to the proxy, read strictly: what two readers could take differently is
/// refused. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::sandbox::net {

inline constexpr std::size_t kMaxHead = 16384;  ///< bytes up to and with the empty line

/// What is sent back instead of a connection.
struct HttpRefusal {
  int status = 400;
  std::string sentence;
};
/// The whole answer, with the sentence as its body.
[[nodiscard]] std::string to_response(const HttpRefusal& refusal);

struct ProxyRequest {
  bool connect = false;  ///< a tunnel; otherwise one request to be forwarded
  std::string host;      ///< as written, without brackets
  std::uint16_t port = 0;
  std::string head;  ///< to forward: origin form, own Host, no hop-by-hop fields, Connection: close
  std::uint64_t body = 0;  ///< bytes of the body
  bool chunked = false;    ///< or it is in chunks
};

/// Reads a whole head with its empty line (RFC 9112; CONNECT and absolute form only).
[[nodiscard]] std::expected<ProxyRequest, HttpRefusal> parse_request(std::string_view head);

/// Finds the end of a request's body in a stream, so that no second request follows the first.
class BodyEnd {
 public:
  explicit BodyEnd(const ProxyRequest& request) noexcept
      : left_(request.body), chunked_(request.chunked) {}

  /// How many of these bytes belong to the body; they come in order. nullopt: it is malformed.
  [[nodiscard]] std::optional<std::size_t> take(std::string_view bytes) noexcept;
  [[nodiscard]] bool done() const noexcept { return chunked_ ? state_ == State::Done : left_ == 0; }

 private:
  enum class State {
    Size,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    Trailer,
    TrailerLine,
    TrailerLf,
    LastLf,
    Done
  };
  [[nodiscard]] bool step(char byte) noexcept;
  [[nodiscard]] bool size_digit(char byte) noexcept;

  std::uint64_t left_;
  bool chunked_;
  State state_ = State::Size;
  int digits_ = 0;
  std::size_t overhead_ = 0;  ///< bytes of extensions and trailers, bounded
};

}  // namespace bawn::sandbox::net
