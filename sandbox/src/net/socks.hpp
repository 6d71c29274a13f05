/// \file
/// SOCKS 5 (RFC 1928), the messages of a client. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bawn::sandbox::net {

enum class SocksReply : std::uint8_t {
  Done = 0,
  Failure = 1,
  NotAllowed = 2,
  HostUnreachable = 4,
  Refused = 5,
  BadCommand = 7,
  BadAddress = 8,
};

/// What a reader of a stream found.
enum class SocksState { NeedMore, Complete, Malformed };

struct SocksGreeting {
  SocksState state = SocksState::NeedMore;
  std::size_t size = 0;           ///< bytes that it took
  bool without_password = false;  ///< the client offers the one method that is taken
};
[[nodiscard]] SocksGreeting read_socks_greeting(std::string_view bytes) noexcept;

struct SocksRequest {
  SocksState state = SocksState::NeedMore;
  std::size_t size = 0;
  SocksReply error = SocksReply::Failure;  ///< for Malformed: what to answer
  std::string host;                        ///< a name as sent, or an address in its usual form
  std::uint16_t port = 0;
};
[[nodiscard]] SocksRequest read_socks_request(std::string_view bytes);

/// The answer to a greeting.
[[nodiscard]] std::string socks_method(bool accepted);
/// The answer to a request; the bound address is not told.
[[nodiscard]] std::string socks_reply(SocksReply reply);

}  // namespace bawn::sandbox::net
