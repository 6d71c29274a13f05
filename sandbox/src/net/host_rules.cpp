#include "host_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace bawn::sandbox::net {
namespace {

constexpr std::size_t kMaxHost = 253;
constexpr std::size_t kMaxLabel = 63;

std::unexpected<Error> bad(std::string sentence) {
  return contract::fail(ErrorCode::InvalidArgument, std::move(sentence));
}

bool is_label_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_name(std::string_view host) {
  if (host.empty() || host.size() > kMaxHost) {
    return false;
  }
  while (true) {
    const std::size_t dot = host.find('.');
    const std::string_view label = host.substr(0, dot);
    if (label.empty() || label.size() > kMaxLabel || label.front() == '-' || label.back() == '-' ||
        !std::ranges::all_of(label, is_label_letter)) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    host.remove_prefix(dot + 1);
  }
}

Result<std::uint16_t> parse_port(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > 65535) {
    return bad(fmt::format("\"{}\" is no port from 1 to 65535", text));
  }
  return static_cast<std::uint16_t>(value);
}

Result<> read_ports(HostRule& rule, std::string_view text) {
  if (text == "*") {
    rule.ports = {{1, 65535}};
    return {};
  }
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const std::uint16_t from = BAWN_TRY(parse_port(part.substr(0, dash)));
    const std::uint16_t to =
        dash == std::string_view::npos ? from : BAWN_TRY(parse_port(part.substr(dash + 1)));
    if (to < from) {
      return bad(fmt::format("the ports {} end before they begin", part));
    }
    rule.ports.emplace_back(from, to);
    if (comma == std::string_view::npos) {
      return {};
    }
    text.remove_prefix(comma + 1);
  }
}

/// "host:ports", "[v6]:ports", "v6" or "host" in two parts; the second is empty when not there.
Result<std::pair<std::string_view, std::string_view>> split_port(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return bad("the bracket is not closed");
    }
    const std::string_view rest = text.substr(close + 1);
    // "[fd00::]/8" reads better to some than "[fd00::/8]"; only the second is taken.
    if (!rest.empty() && (rest.front() != ':' || rest.size() == 1)) {
      return bad("behind the bracket only \":PORT\" may stand");
    }
    return std::pair{text.substr(1, close - 1), rest.empty() ? rest : rest.substr(1)};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return std::pair{text, std::string_view()};  // a second colon: IPv6 without a port
  }
  if (colon + 1 == text.size()) {
    return bad("behind the colon stands no port");
  }
  return std::pair{text.substr(0, colon), text.substr(colon + 1)};
}

bool has_port(const HostRule& rule, std::uint16_t port) {
  return std::ranges::any_of(rule.ports, [port](const auto& range) {
    return range.first <= port && port <= range.second;
  });
}

bool names(const HostRule& rule, std::string_view host) {
  if (rule.any) {
    return true;
  }
  if (rule.prefix || rule.name.empty()) {
    return false;
  }
  if (!rule.subdomains) {
    return rule.name == host;
  }
  return host.size() > rule.name.size() + 1 && host.ends_with(rule.name) &&
         host[host.size() - rule.name.size() - 1] == '.';
}

}  // namespace

Result<std::string> normalise_host(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  if (const auto address = parse_address(host)) {
    return to_string(*address);
  }
  std::string name(host);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (name.ends_with('.')) {
    name.pop_back();
  }
  if (std::ranges::any_of(name,
                          [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; })) {
    return bad("a host name with letters outside ASCII must be written in its xn-- form");
  }
  if (!is_name(name)) {
    return bad("this is no host name");
  }
  if (looks_numeric(name)) {
    return bad("an IPv4 address must be written as four decimal numbers");
  }
  return name;
}

Result<HostRule> parse_host_rule(std::string_view text) {
  HostRule rule;
  rule.text = text;
  const auto [host, ports] = BAWN_TRY(split_port(text));
  if (ports.empty()) {
    rule.ports = {{80, 80}, {443, 443}};
  } else {
    BAWN_TRY(read_ports(rule, ports));
  }
  if (host == "*") {
    rule.any = true;
    return rule;
  }
  if (host.find('/') != std::string_view::npos) {
    rule.prefix = parse_prefix(host);
    if (!rule.prefix) {
      return bad("this is no range of addresses such as 10.0.0.0/8; a host stands without a path");
    }
    return rule;
  }
  rule.subdomains = host.starts_with("*.");
  rule.name = BAWN_TRY(normalise_host(rule.subdomains ? host.substr(2) : host));
  if (const auto address = parse_address(rule.name)) {
    if (rule.subdomains) {
      return bad("an address has no subdomains");
    }
    rule.prefix = Prefix{*address, address->v6 ? 128 : 32};
    rule.name.clear();
  }
  return rule;
}

Result<FixedAddress> parse_fixed_address(std::string_view text) {
  const auto [host, port] = BAWN_TRY(split_port(text));
  const auto address = parse_address(host);
  if (!address) {
    return bad("must be an address, or ADDRESS:PORT");
  }
  FixedAddress fixed{*address, 0};
  if (!port.empty()) {
    fixed.port = BAWN_TRY(parse_port(port));
  }
  return fixed;
}

Result<HostRules> HostRules::make(const Policy& policy) {
  HostRules rules;
  for (std::size_t at = 0; at < policy.hosts.size(); ++at) {
    auto rule = parse_host_rule(policy.hosts[at]);
    if (!rule) {
      return std::unexpected(
          rule.error().wrap(fmt::format("policy member hosts[{}] {:?}", at, policy.hosts[at])));
    }
    rules.rules_.push_back(*std::move(rule));
  }
  for (const auto& [name, text] : policy.host_addresses) {
    const auto host = normalise_host(name);
    const auto fixed = parse_fixed_address(text);
    if (!host || !fixed || parse_address(*host)) {
      const Error why = !host ? host.error()
                        : !fixed
                            ? fixed.error()
                            : Error(ErrorCode::InvalidArgument, "an address stands for itself");
      return std::unexpected(why.wrap(fmt::format("policy member host_addresses.{}", name)));
    }
    rules.fixed_.emplace(*host, *fixed);
  }
  return rules;
}

Verdict HostRules::check_host(std::string_view host, std::uint16_t port) const {
  if (const auto address = parse_address(host)) {
    const HostRule* const rule = named(*address, port);
    return rule != nullptr ? Verdict{true, rule->text}
                           : Verdict{false, "no entry of hosts names this address and port"};
  }
  bool known = false;
  for (const HostRule& rule : rules_) {
    if (names(rule, host)) {
      if (has_port(rule, port)) {
        return {true, rule.text};
      }
      known = true;
    }
  }
  return {false, known ? "its entry of hosts does not name this port"
                       : "no entry of hosts names this host"};
}

Verdict HostRules::check_address(const Address& address, std::uint16_t port) const {
  if (const HostRule* const rule = named(address, port)) {
    return {true, rule->text};
  }
  const Reach reach = reach_of(address);
  if (reach == Reach::Public) {
    return {true, "public"};
  }
  return {false, fmt::format("its address {} is {}, and no entry of hosts names that address",
                             to_string(address), to_string(reach))};
}

const HostRule* HostRules::named(const Address& address, std::uint16_t port) const {
  const auto found = std::ranges::find_if(rules_, [&](const HostRule& rule) {
    return rule.prefix && contains(*rule.prefix, address) && has_port(rule, port);
  });
  return found == rules_.end() ? nullptr : &*found;
}

std::optional<FixedAddress> HostRules::fixed(std::string_view host) const {
  const auto found = fixed_.find(host);
  return found == fixed_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> HostRules::texts() const {
  std::vector<std::string> texts;
  for (const HostRule& rule : rules_) {
    texts.push_back(rule.text);
  }
  return texts;
}

}  // namespace bawn::sandbox::net
