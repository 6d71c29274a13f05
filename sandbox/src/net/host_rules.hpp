/// \file
/// The policy's list of hosts: which names, addresses and ports a session may reach. Pure.
#pragma once

#include "address.hpp"
#include "bawn/sandbox/policy.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::sandbox::net {

/// Lower case, without the trailing dot of a fully qualified name and without brackets.
///
/// Errors: InvalidArgument for what is no host name (RFC 1123, underscores allowed) and no address
/// in the usual form: letters outside ASCII (their xn-- form is meant), "127.1", zones, blanks.
[[nodiscard]] Result<std::string> normalise_host(std::string_view host);

/// One entry of the list, read.
struct HostRule {
  std::string text;              ///< as the policy has it
  std::string name;              ///< normalised; empty when `prefix` is set or `any`
  bool subdomains = false;       ///< "*.name": what lies below it, not the name itself
  bool any = false;              ///< "*"
  std::optional<Prefix> prefix;  ///< addresses
  std::vector<std::pair<std::uint16_t, std::uint16_t>> ports;  ///< inclusive ranges
};

/// Reads HOST, *.HOST, *, ADDRESS, ADDRESS/BITS, each with :PORTS behind it, where PORTS is "*" or
/// a comma list of numbers and FROM-TO. Without ports 80 and 443 are meant. IPv6 stands in
/// brackets.
///
/// Errors: InvalidArgument, one sentence.
[[nodiscard]] Result<HostRule> parse_host_rule(std::string_view text);

/// Where a name of the policy's `host_addresses` leads.
struct FixedAddress {
  Address address;
  std::uint16_t port = 0;  ///< 0 = the port asked for
};
/// Reads ADDRESS or ADDRESS:PORT; IPv6 with a port in brackets.
[[nodiscard]] Result<FixedAddress> parse_fixed_address(std::string_view text);

/// The answer about a host or an address.
struct Verdict {
  bool allowed = false;
  std::string rule;  ///< the entry that allows it; else why not, in a few words
};

/// Threads: thread-safe (immutable).
class HostRules {
 public:
  /// Errors: InvalidArgument with the member's path, as policy_from_json.
  static Result<HostRules> make(const Policy& policy);

  /// May a client ask for this name or address (normalised) and port? An address must be named as
  /// one; "*" does not name it.
  [[nodiscard]] Verdict check_host(std::string_view host, std::uint16_t port) const;
  /// May a name that was allowed lead to this address? Public ones always, others when named.
  [[nodiscard]] Verdict check_address(const Address& address, std::uint16_t port) const;
  /// Is the address named by an entry of the list?
  [[nodiscard]] const HostRule* named(const Address& address, std::uint16_t port) const;
  [[nodiscard]] std::optional<FixedAddress> fixed(std::string_view host) const;
  [[nodiscard]] std::vector<std::string> texts() const;

 private:
  std::vector<HostRule> rules_;
  std::map<std::string, FixedAddress, std::less<>> fixed_;
};

}  // namespace bawn::sandbox::net
