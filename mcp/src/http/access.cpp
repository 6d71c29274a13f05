#include "http/access.hpp"

#include "bawn/contract/lower_case.hpp"
#include "request_state.hpp"

#include <algorithm>
#include <array>

namespace bawn::mcp {
namespace {

bool is_port(std::string_view text) {
  constexpr std::size_t kLongest = 5;
  return text.empty() ||
         (text.front() == ':' && text.size() > 1 && text.size() <= kLongest + 1 &&
          std::ranges::all_of(text.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
}

}  // namespace

std::string host_name(std::string_view host) {
  const auto end = host.starts_with('[') ? host.find(']') : host.find(':');
  std::size_t length = std::min(end, host.size());
  if (host.starts_with('[') && end != std::string_view::npos) {
    ++length;
  }
  return is_port(host.substr(length)) ? contract::lower_case(host.substr(0, length))
                                      : std::string();
}

bool is_allowed_host(std::string_view host, const HttpOptions& options) {
  constexpr std::array<std::string_view, 3> kOwn = {"localhost", "127.0.0.1", "[::1]"};
  const std::string name = host_name(host);
  return !name.empty() &&
         (std::ranges::find(kOwn, name) != kOwn.end() ||
          std::ranges::any_of(options.allowed_hosts, [&](const std::string& allowed) {
            return contract::lower_case(allowed) == name;
          }));
}

bool is_allowed_origin(std::string_view origin, const HttpOptions& options) {
  if (std::ranges::find(options.allowed_origins, origin) != options.allowed_origins.end()) {
    return true;
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) {
      return is_allowed_host(origin.substr(scheme.size()), options);
    }
  }
  return false;
}

std::optional<std::string> account_of(std::string_view authorization, const HttpOptions& options) {
  if (options.tokens.empty()) {
    return "anonymous";
  }
  constexpr std::string_view kScheme = "bearer ";
  if (contract::lower_case(authorization.substr(0, kScheme.size())) != kScheme) {
    return std::nullopt;
  }
  std::string_view given = authorization.substr(kScheme.size());
  given.remove_prefix(std::min(given.find_first_not_of(' '), given.size()));  // RFC 9110, 11.4
  std::optional<std::string> account;
  for (const BearerToken& known : options.tokens) {
    if (equal_in_constant_time(known.token, given)) {
      account = known.account;
    }
  }
  return account;
}

bool is_loopback(std::string_view address) {
  return address == "::1" || address.starts_with("127.");
}

}  // namespace bawn::mcp
