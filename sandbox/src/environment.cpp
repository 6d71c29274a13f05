#include "bawn/sandbox/plan.hpp"
#include "tool_caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace bawn::sandbox {
namespace {

struct Variable {
  std::string_view name;
  std::string_view value;
};

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char letter) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  });
  return result;
}

bool name_looks_secret(std::string_view name) {
  const std::string word = upper(name);
  constexpr std::array kParts = {"TOKEN",   "SECRET", "PASSWORD", "PASSWD",     "PASSPHRASE",
                                 "CREDENT", "APIKEY", "API_KEY",  "PRIVATE",    "ACCESS_KEY",
                                 "COOKIE",  "AUTH",   "_DSN",     "SESSION_KEY"};
  return std::ranges::any_of(
             kParts, [&](const char* part) { return word.find(part) != std::string::npos; }) ||
         word.ends_with("_KEY") || word.ends_with("_PAT") || word.ends_with("_PWD");
}

/// "scheme://user:password@host".
bool value_looks_secret(std::string_view value) {
  const std::size_t scheme = value.find("://");
  if (scheme == std::string_view::npos) {
    return false;
  }
  const std::string_view authority =
      value.substr(scheme + 3, value.find('/', scheme + 3) - scheme - 3);
  const std::size_t at = authority.rfind('@');
  return at != std::string_view::npos &&
         authority.substr(0, at).find(':') != std::string_view::npos;
}

bool is_allowed(const Policy& policy, const Variable& variable) {
  bool by_pattern = false;
  for (const std::string& allowed : policy.env_allow) {
    if (allowed == variable.name) {
      return true;
    }
    by_pattern =
        by_pattern ||
        (allowed.ends_with('*') &&
         variable.name.starts_with(std::string_view(allowed).substr(0, allowed.size() - 1)));
  }
  return by_pattern && !name_looks_secret(variable.name) && !value_looks_secret(variable.value) &&
         !variable.name.starts_with("BAWN_");
}

/// An empty or relative entry of PATH means the current directory, which the command may fill.
std::string absolute_entries(std::string_view path) {
  std::string kept;
  while (true) {
    const std::size_t colon = path.find(':');
    const std::string_view entry = path.substr(0, colon);
    if (entry.starts_with('/')) {
      kept += (kept.empty() ? "" : ":");
      kept += entry;
    }
    if (colon == std::string_view::npos) {
      break;
    }
    path.remove_prefix(colon + 1);
  }
  return kept.empty() ? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" : kept;
}

/// Collects variables; the last word on a name wins.
class Environment {
 public:
  void set(std::string_view name, std::string_view value) {
    std::erase_if(entries_, [&](const std::string& entry) {
      return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
    });
    entries_.push_back(fmt::format("{}={}", name, value));
  }
  std::vector<std::string> take() { return std::move(entries_); }

 private:
  std::vector<std::string> entries_;
};

/// Both cases, since clients differ in which they read; curl takes http_proxy in lower case only.
void lead_to_proxy(Environment& environment, std::uint16_t port) {
  const std::string proxy = fmt::format("http://127.0.0.1:{}", port);
  for (const char* name :
       {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}) {
    environment.set(name, proxy);
  }
  for (const char* name : {"NO_PROXY", "no_proxy"}) {
    environment.set(name, "localhost,127.0.0.1,::1");
  }
  environment.set("NODE_USE_ENV_PROXY", "1");  // Node's fetch, from 22.21 and 24 on
}

}  // namespace

std::vector<std::string> session_environment(const Policy& policy, const SessionPlan& plan,
                                             const std::vector<std::string>& host,
                                             std::uint16_t proxy_port) {
  if (!policy.enforce) {
    return host;
  }
  Environment environment;
  std::string_view path;
  for (const std::string& entry : host) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      continue;
    }
    const Variable variable{std::string_view(entry).substr(0, equals),
                            std::string_view(entry).substr(equals + 1)};
    if (variable.name == "PATH") {
      path = variable.value;
    } else if (is_allowed(policy, variable)) {
      environment.set(variable.name, variable.value);
    }
  }
  environment.set("PATH", absolute_entries(path));
  environment.set("HOME", plan.home);
  environment.set("USER", plan.user);
  environment.set("LOGNAME", plan.user);
  environment.set("TMPDIR", plan.tmp);
  for (const ToolCache& cache : tool_caches(policy, plan)) {
    if (!cache.value.empty()) {
      environment.set(cache.variable, cache.value);
    }
  }
  if (proxy_port != 0) {
    lead_to_proxy(environment, proxy_port);
  }
  return environment.take();
}

}  // namespace bawn::sandbox
