/// \file
/// Internet addresses as values, and what kind of place one leads to. No system calls.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::sandbox::net {

/// An IPv4 or IPv6 address. IPv4 uses the first four bytes, in network order.
struct Address {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};
  friend bool operator==(const Address&, const Address&) = default;
};

/// Reads the one usual form: four decimal numbers without leading zeros, or what inet_pton(3)
/// takes as IPv6, without brackets and zone.
[[nodiscard]] std::optional<Address> parse_address(std::string_view text);
[[nodiscard]] std::string to_string(const Address& address);

/// True for what old resolvers read as an IPv4 address though it is none in the usual form
/// ("127.1", "0x7f000001", "2130706433", "0177.0.0.1"): a name whose last label begins with a digit
/// and holds nothing but digits, or is a hexadecimal number.
[[nodiscard]] bool looks_numeric(std::string_view host);

/// Where an address leads.
enum class Reach {
  Public,     ///< the internet at large
  Loopback,   ///< 127.0.0.0/8, ::1
  Private,    ///< RFC 1918, fc00::/7, 100.64.0.0/10 (shared by carriers)
  LinkLocal,  ///< 169.254.0.0/16, fe80::/10
  Metadata,   ///< where clouds hand out credentials to whoever asks
  Multicast,  ///< 224.0.0.0/4, ff00::/8, and broadcast
  Embedding,  ///< IPv6 with an IPv4 address inside: mapped, NAT64, 6to4, Teredo, ISATAP
  Reserved,   ///< 0.0.0.0/8, documentation, benchmarks, future use
};
[[nodiscard]] Reach reach_of(const Address& address) noexcept;
[[nodiscard]] std::string_view to_string(Reach reach) noexcept;

/// An address and the number of leading bits that count.
struct Prefix {
  Address address;
  int bits = 0;
};
/// "10.0.0.0/8", or a single address.
[[nodiscard]] std::optional<Prefix> parse_prefix(std::string_view text);
[[nodiscard]] bool contains(const Prefix& prefix, const Address& address) noexcept;

/// For the metadata service the IPv4 address inside an embedding one counts: a mapped address
/// connects to it.
[[nodiscard]] bool is_metadata(const Address& address) noexcept;

}  // namespace bawn::sandbox::net
