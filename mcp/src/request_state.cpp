#include "request_state.hpp"

#include "bawn/contract/canonical.hpp"

#include <fmt/format.h>

#include <sys/random.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <vector>

namespace bawn::mcp {
namespace {

using contract::sha256_hex;

constexpr std::size_t kBlock = 64;

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + at, hex.data() + at + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::string padded(std::string_view key, unsigned char pad) {
  std::string block(kBlock, '\0');
  key.copy(block.data(), kBlock);
  for (char& byte : block) {
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ pad);
  }
  return block;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(value)
                                                                         : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  // Volatile, so that no compiler ends the loop at the first difference.
  volatile unsigned char different = a.size() == b.size() ? 0 : 1;
  for (std::size_t at = 0; at < b.size(); ++at) {
    const char other = a.empty() ? '\0' : a[at % a.size()];
    different = static_cast<unsigned char>(different | static_cast<unsigned char>(other ^ b[at]));
  }
  return different == 0;
}

std::string hmac_sha256_hex(std::string_view key, std::string_view message) {
  constexpr unsigned char kInner = 0x36;
  constexpr unsigned char kOuter = 0x5c;
  const std::string short_key = key.size() > kBlock ? from_hex(sha256_hex(key)) : std::string(key);
  const std::string inner = sha256_hex(padded(short_key, kInner).append(message));
  return sha256_hex(padded(short_key, kOuter) + from_hex(inner));
}

StateSeal::StateSeal() {
  std::array<char, 32> random{};
  if (::getrandom(random.data(), random.size(), 0) == static_cast<ssize_t>(random.size())) {
    key_.assign(random.data(), random.size());
  }
}

std::string StateSeal::seal(const StateTicket& ticket, std::string_view bound) const {
  // Of one width, so that answers with a state have one length.
  const auto expires =
      std::chrono::duration_cast<std::chrono::milliseconds>(ticket.expires - born_);
  const std::string payload =
      fmt::format("v1.{}.{}.{:012}", ticket.call, ticket.round, expires.count());
  return payload + "." + hmac_sha256_hex(key_, payload + "\n" + std::string(bound));
}

std::optional<StateTicket> StateSeal::open(std::string_view state, std::string_view bound) const {
  constexpr std::size_t kLongest = 200;
  const auto parts = split(state.substr(0, kLongest));
  if (!usable() || state.size() > kLongest || parts.size() != 5 || parts[0] != "v1") {
    return std::nullopt;
  }
  const std::string_view payload = state.substr(0, state.size() - parts[4].size() - 1);
  const std::string expected =
      hmac_sha256_hex(key_, std::string(payload) + "\n" + std::string(bound));
  if (!equal_in_constant_time(parts[4], expected)) {
    return std::nullopt;
  }
  const auto call = number(parts[1]);
  const auto round = number(parts[2]);
  const auto expires = number(parts[3]);
  if (!call || !round || !expires) {
    return std::nullopt;
  }
  return StateTicket{
      .call = *call,
      .round = *round,
      .expires = born_ + std::chrono::milliseconds(static_cast<std::int64_t>(*expires))};
}

}  // namespace bawn::mcp
