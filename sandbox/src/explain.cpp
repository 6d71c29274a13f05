#include "bawn/sandbox/explain.hpp"

#include "net/address.hpp"
#include "net/host_rules.hpp"
#include "paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace bawn::sandbox {
namespace {

const std::string* holder_of(std::string_view path, const std::vector<std::string>& list) {
  const auto found =
      std::ranges::find_if(list, [&](const auto& root) { return is_within(path, root); });
  return found == list.end() ? nullptr : &*found;
}

/// A directory that a session gets of its own, unless a writable root brings it back.
const std::string* private_directory(const Place& place, std::string_view path) {
  if (is_within(path, place.workspace) || is_within_any(path, place.writable_roots)) {
    return nullptr;
  }
  return holder_of(path, place.shared_directories);
}

Verdict explain_write(const Place& place, std::string_view path) {
  if (const std::string* own = private_directory(place, path)) {
    if (*own == "/run" || belongs_to_kernel(path)) {
      return {false, fmt::format("{} is private to the session and read-only", *own)};
    }
    return {true, fmt::format("{} is private to the session: the host's is not touched", *own)};
  }
  const std::string* root = holder_of(path, place.writable_roots);
  if (root == nullptr) {
    return {false, place.writable_roots.empty()
                       ? std::string("write: nothing but the private /tmp is writable")
                       : fmt::format("write: only {} and the private /tmp are writable",
                                     fmt::join(place.writable_roots, ", "))};
  }
  if (const std::string* name = holder_of(path, place.existing_protected)) {
    return {false, fmt::format("protected_names: {}", *name)};
  }
  if (const std::string* name = holder_of(path, place.missing_protected)) {
    return {true, fmt::format("write: {}; {} is a protected name that nothing can hold, and is "
                              "told after each call",
                              *root, *name)};
  }
  return {true, fmt::format("write: {}", *root)};
}

/// With the full network these alone are refused, unless the policy names them.
Result<Verdict> explain_metadata(const Policy& policy, const net::Address& address,
                                 std::uint16_t port) {
  const net::HostRules rules = BAWN_TRY(net::HostRules::make(policy));
  if (const net::HostRule* rule = rules.named(address, port)) {
    return Verdict{true, fmt::format("hosts: {}", rule->text)};
  }
  return Verdict{false, "network: full; cloud metadata addresses must be named in hosts"};
}

}  // namespace

PathVerdict explain_path(const Policy& policy, const Place& place, std::string_view path) {
  if (!policy.enforce) {
    return {{true, "this policy has no wall"}, {true, "this policy has no wall"}};
  }
  if (const std::string* secret = holder_of(path, place.existing_secrets)) {
    const std::string rule = fmt::format("secrets: {}", *secret);
    return {{false, rule}, {false, rule}};
  }
  PathVerdict verdict;
  verdict.write = explain_write(place, path);
  if (const std::string* own = private_directory(place, path)) {
    verdict.read = {true,
                    fmt::format("{} is private to the session: the host's is not seen", *own)};
  } else if (const std::string* mask = holder_of(path, place.masked_paths)) {
    verdict.read = {false, fmt::format("{} is hidden from every session", *mask)};
  } else {
    verdict.read = {true, "everything but secrets is readable"};
  }
  return verdict;
}

Result<Verdict> explain_host(const Policy& policy, std::string_view host, std::uint16_t port) {
  const std::string name = BAWN_TRY(net::normalise_host(host));
  const bool own = name == "localhost" || name == "::1" || name.starts_with("127.");
  switch (policy.network) {
    case Network::Full:
      if (const auto address = net::parse_address(name); address && net::is_metadata(*address)) {
        return explain_metadata(policy, *address, port);
      }
      return Verdict{true, "network: full; cloud metadata addresses only when hosts names them"};
    case Network::None:
    case Network::Loopback:
      return own ? Verdict{true, fmt::format("network: {}; only the session's own services, where "
                                             "there is a network namespace",
                                             to_string(policy.network))}
                 : Verdict{false, fmt::format("network: {}", to_string(policy.network))};
    case Network::AllowList:
      break;
  }
  const net::HostRules rules = BAWN_TRY(net::HostRules::make(policy));
  const net::Verdict verdict = rules.check_host(name, port);
  return Verdict{verdict.allowed, fmt::format("hosts: {}", verdict.rule)};
}

}  // namespace bawn::sandbox
