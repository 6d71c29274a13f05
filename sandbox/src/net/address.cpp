#include "address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

namespace bawn::sandbox::net {
namespace {

struct Range {
  const char* text;
  Reach reach;
};

// IANA's special-purpose registries; the first range that holds an address decides.
constexpr Range kRanges[] = {
    // AWS and most others; Alibaba; Oracle's and AWS's container endpoints are link-local anyway.
    {"169.254.169.254/32", Reach::Metadata},
    {"169.254.170.2/32", Reach::Metadata},
    {"169.254.170.23/32", Reach::Metadata},
    {"100.100.100.200/32", Reach::Metadata},
    {"168.63.129.16/32", Reach::Metadata},  // Azure's host agent
    {"192.0.0.192/32", Reach::Metadata},    // Oracle, older images
    {"fd00:ec2::254/128", Reach::Metadata},
    {"fd00:ec2::23/128", Reach::Metadata},
    {"fd20:ce::254/128", Reach::Metadata},
    {"fd00:42::42/128", Reach::Metadata},
    {"fe80::a9fe:a9fe/128", Reach::Metadata},
    {"0.0.0.0/8", Reach::Reserved},
    {"10.0.0.0/8", Reach::Private},
    {"100.64.0.0/10", Reach::Private},
    {"127.0.0.0/8", Reach::Loopback},
    {"169.254.0.0/16", Reach::LinkLocal},
    {"172.16.0.0/12", Reach::Private},
    {"192.0.0.0/24", Reach::Reserved},
    {"192.0.2.0/24", Reach::Reserved},
    {"192.88.99.0/24", Reach::Reserved},
    {"192.168.0.0/16", Reach::Private},
    {"198.18.0.0/15", Reach::Reserved},
    {"198.51.100.0/24", Reach::Reserved},
    {"203.0.113.0/24", Reach::Reserved},
    {"224.0.0.0/4", Reach::Multicast},
    {"255.255.255.255/32", Reach::Multicast},
    {"240.0.0.0/4", Reach::Reserved},
    {"::/128", Reach::Reserved},
    {"::1/128", Reach::Loopback},
    {"::/96", Reach::Embedding},
    {"::ffff:0:0/96", Reach::Embedding},
    {"::ffff:0:0:0/96", Reach::Embedding},
    {"64:ff9b::/96", Reach::Embedding},
    {"64:ff9b:1::/48", Reach::Embedding},
    {"2002::/16", Reach::Embedding},
    {"2001::/32", Reach::Embedding},
    {"100::/64", Reach::Reserved},
    {"2001::/23", Reach::Reserved},
    {"2001:db8::/32", Reach::Reserved},
    {"3fff::/20", Reach::Reserved},
    {"5f00::/16", Reach::Reserved},
    {"fc00::/7", Reach::Private},
    {"fec0::/10", Reach::Private},
    {"fe80::/10", Reach::LinkLocal},
    {"ff00::/8", Reach::Multicast},
};

struct Known {
  Prefix prefix;
  Reach reach;
};

const std::array<Known, std::size(kRanges)>& known_ranges() {
  static const auto ranges = [] {
    std::array<Known, std::size(kRanges)> parsed{};
    std::ranges::transform(kRanges, parsed.begin(), [](const Range& range) {
      return Known{parse_prefix(range.text).value_or(Prefix{}), range.reach};
    });
    return parsed;
  }();
  return ranges;
}

/// The interface identifier of ISATAP: 0:5efe or 200:5efe in front of an IPv4 address (RFC 5214).
bool is_isatap(const Address& address) noexcept {
  const auto* const at = address.bytes.data() + 8;
  return address.v6 && (at[0] & 0xfdU) == 0 && at[1] == 0 && at[2] == 0x5e && at[3] == 0xfe;
}

/// The IPv4 addresses that may lie in an embedding one; wherever the four bytes are.
Address inner(const Address& address, std::size_t offset) noexcept {
  Address result;
  std::copy_n(address.bytes.begin() + static_cast<std::ptrdiff_t>(offset), 4, result.bytes.begin());
  return result;
}

bool is_number(std::string_view label) {
  if (label.starts_with("0x") || label.starts_with("0X")) {
    return std::ranges::all_of(label.substr(2), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
  }
  return !label.empty() && std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  char buffer[INET6_ADDRSTRLEN];
  if (text.empty() || text.size() >= sizeof buffer || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  Address address;
  address.v6 = text.find(':') != std::string_view::npos;
  if (::inet_pton(address.v6 ? AF_INET6 : AF_INET, buffer, address.bytes.data()) != 1) {
    return std::nullopt;
  }
  return address;
}

std::string to_string(const Address& address) {
  char buffer[INET6_ADDRSTRLEN] = {};
  (void)::inet_ntop(address.v6 ? AF_INET6 : AF_INET, address.bytes.data(), buffer, sizeof buffer);
  return buffer;
}

bool looks_numeric(std::string_view host) {
  if (host.ends_with('.')) {
    host.remove_suffix(1);
  }
  const std::size_t dot = host.rfind('.');
  return is_number(dot == std::string_view::npos ? host : host.substr(dot + 1));
}

Reach reach_of(const Address& address) noexcept {
  for (const Known& known : known_ranges()) {
    if (contains(known.prefix, address)) {
      return known.reach;
    }
  }
  return is_isatap(address) ? Reach::Embedding : Reach::Public;
}

std::string_view to_string(Reach reach) noexcept {
  switch (reach) {
    case Reach::Public:
      return "public";
    case Reach::Loopback:
      return "loopback";
    case Reach::Private:
      return "private";
    case Reach::LinkLocal:
      return "link-local";
    case Reach::Metadata:
      return "cloud metadata";
    case Reach::Multicast:
      return "multicast";
    case Reach::Embedding:
      return "IPv4-embedding";
    case Reach::Reserved:
      return "reserved";
  }
  return "reserved";
}

std::optional<Prefix> parse_prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) {
    return std::nullopt;
  }
  const int most = address->v6 ? 128 : 32;
  if (slash == std::string_view::npos) {
    return Prefix{*address, most};
  }
  const std::string_view digits = text.substr(slash + 1);
  int bits = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (error != std::errc() || end != digits.data() + digits.size() || bits < 0 || bits > most) {
    return std::nullopt;
  }
  return Prefix{*address, bits};
}

bool contains(const Prefix& prefix, const Address& address) noexcept {
  if (prefix.address.v6 != address.v6) {
    return false;
  }
  const auto whole = static_cast<std::size_t>(prefix.bits / 8);
  const auto rest = static_cast<unsigned>(prefix.bits % 8);
  if (!std::equal(address.bytes.begin(), address.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  prefix.address.bytes.begin())) {
    return false;
  }
  const unsigned mask = 0xffU & (0xff00U >> rest);
  return rest == 0 || ((address.bytes[whole] ^ prefix.address.bytes[whole]) & mask) == 0;
}

bool is_metadata(const Address& address) noexcept {
  if (reach_of(address) == Reach::Metadata) {
    return true;
  }
  if (reach_of(address) != Reach::Embedding) {
    return false;
  }
  // 6to4 has it behind the prefix, Teredo inverted at the end, NAT64 with a longer prefix around
  // the eighth byte, all others at the end.
  Address teredo = inner(address, 12);
  std::ranges::transform(teredo.bytes, teredo.bytes.begin(),
                         [](std::uint8_t byte) { return static_cast<std::uint8_t>(~byte); });
  std::fill(teredo.bytes.begin() + 4, teredo.bytes.end(), std::uint8_t{0});
  Address around = inner(address, 6);
  std::copy_n(address.bytes.begin() + 9, 2, around.bytes.begin() + 2);
  const std::array candidates = {inner(address, 12), inner(address, 2), teredo, around};
  return std::ranges::any_of(candidates,
                             [](const Address& each) { return reach_of(each) == Reach::Metadata; });
}

}  // namespace bawn::sandbox::net
