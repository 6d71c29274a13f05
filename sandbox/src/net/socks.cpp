#include "socks.hpp"

#include "address.hpp"

#include <algorithm>

namespace bawn::sandbox::net {
namespace {

constexpr char kVersion = 5;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<std::uint8_t>(bytes[at]);
}

SocksRequest malformed(SocksReply error) {
  SocksRequest request;
  request.state = SocksState::Malformed;
  request.error = error;
  return request;
}

std::string address_text(std::string_view bytes, bool v6) {
  Address address;
  address.v6 = v6;
  std::ranges::copy(bytes, address.bytes.begin());
  return to_string(address);
}

}  // namespace

SocksGreeting read_socks_greeting(std::string_view bytes) noexcept {
  SocksGreeting greeting;
  if (!bytes.empty() && bytes.front() != kVersion) {
    greeting.state = SocksState::Malformed;
    return greeting;
  }
  if (bytes.size() < 2 || bytes.size() < std::size_t{2} + byte_at(bytes, 1)) {
    return greeting;
  }
  greeting.size = std::size_t{2} + byte_at(bytes, 1);
  greeting.state = SocksState::Complete;
  greeting.without_password = bytes.substr(2, greeting.size - 2).find('\0') != std::string::npos;
  return greeting;
}

SocksRequest read_socks_request(std::string_view bytes) {
  constexpr std::size_t kFixed = 4;
  if (bytes.size() <= kFixed) {
    const bool wrong = !bytes.empty() && bytes.front() != kVersion;
    return wrong ? malformed(SocksReply::Failure) : SocksRequest{};
  }
  if (bytes[0] != kVersion || bytes[2] != 0) {
    return malformed(SocksReply::Failure);
  }
  if (bytes[1] != 1) {  // BIND and UDP ASSOCIATE
    return malformed(SocksReply::BadCommand);
  }
  const char kind = bytes[3];
  const bool is_name = kind == 3;
  if (kind != 1 && kind != 4 && !is_name) {
    return malformed(SocksReply::BadAddress);
  }
  const std::size_t start = is_name ? kFixed + 1 : kFixed;
  const std::size_t length = kind == 1 ? 4 : kind == 4 ? 16 : byte_at(bytes, kFixed);
  SocksRequest request;
  if (bytes.size() < start + length + 2) {
    return request;
  }
  const std::string_view body = bytes.substr(start, length);
  request.host = is_name ? std::string(body) : address_text(body, kind == 4);
  request.port = static_cast<std::uint16_t>(byte_at(bytes, start + length) * 256U +
                                            byte_at(bytes, start + length + 1));
  request.size = start + length + 2;
  request.state = SocksState::Complete;
  if (request.host.empty() || request.port == 0) {
    return malformed(SocksReply::BadAddress);
  }
  return request;
}

std::string socks_method(bool accepted) {
  return {kVersion, accepted ? '\0' : '\xff'};
}

std::string socks_reply(SocksReply reply) {
  return {kVersion, static_cast<char>(reply), '\0', '\1', '\0', '\0', '\0', '\0', '\0', '\0'};
}

}  // namespace bawn::sandbox::net
