#include "bawn/contract/quote.hpp"
#include "bawn/sandbox/widen.hpp"
#include "paths.hpp"
#include "survey.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::sandbox {
namespace {

using contract::plain_or_quoted;

constexpr std::size_t kMaxEntries = 16;
constexpr const char* kGrantedSuffix = " + granted";

std::unexpected<Error> bad(std::string sentence) {
  return contract::fail(ErrorCode::InvalidArgument, std::move(sentence));
}

const std::string* holder_of(std::string_view path, const std::vector<std::string>& list) {
  const auto found =
      std::ranges::find_if(list, [&](const auto& root) { return is_within(path, root); });
  return found == list.end() ? nullptr : &*found;
}

/// Where the path leads, links followed: what is granted is the place, not the name.
Result<std::string> resolve(const Place& place, const std::string& path) {
  if ((!path.starts_with('/') && !path.starts_with("~/")) || path.find('\0') != std::string::npos) {
    return bad(fmt::format("the path {} must begin with / or ~/", plain_or_quoted(path)));
  }
  const std::string found = canonical(expand_home(path, {place.home}).front());
  if (found.empty()) {
    return bad(fmt::format("the path {} does not exist", plain_or_quoted(path)));
  }
  return found;
}

class Widener {
 public:
  Widener(const Policy& policy, const Place& place) : place_(place) { made_.policy = policy; }

  Result<> add_secret(const std::string& path) {
    const std::string found = BAWN_TRY(resolve(place_, path));
    const std::string* const secret = holder_of(found, place_.existing_secrets);
    if (secret == nullptr) {
      return bad(fmt::format("{} is readable without asking", plain_or_quoted(path)));
    }
    if (*secret != found) {
      return bad(fmt::format("{} lies in the secret {}, which can only be opened as a whole",
                             plain_or_quoted(path), plain_or_quoted(*secret)));
    }
    const auto opens = [&](const std::string& entry) {
      return std::ranges::any_of(expand_home(entry, homes()),
                                 [&](const auto& one) { return canonical(one) == found; });
    };
    if (std::erase_if(made_.policy.secrets, opens) == 0) {
      return bad(fmt::format("{} is bawn's own and is never opened", plain_or_quoted(path)));
    }
    made_.secrets.push_back(found);
    return {};
  }

  Result<> add_write(const std::string& path) {
    const std::string found = BAWN_TRY(resolve(place_, path));
    if (const std::string* name = holder_of(found, place_.existing_protected)) {
      return add_protected(*name);
    }
    if (found == "/" || is_within_any(found, {"/proc", "/sys", "/dev"})) {
      return bad(fmt::format("{} is never writable", plain_or_quoted(path)));
    }
    if (is_within_any(found, place_.existing_secrets)) {
      return bad(
          fmt::format("{} lies in a secret, which is never writable", plain_or_quoted(path)));
    }
    if (is_within_any(found, place_.writable_roots)) {
      return bad(fmt::format("{} is writable without asking", plain_or_quoted(path)));
    }
    if (kind_of(found) != FileKind::Directory) {
      return bad(fmt::format("{} is no directory; ask for the directory that holds it",
                             plain_or_quoted(path)));
    }
    made_.policy.write.push_back(found);
    made_.write.push_back(found);
    return {};
  }

  Result<> add_hosts(const std::vector<std::string>& hosts) {
    if (hosts.empty()) {
      return {};
    }
    Policy& policy = made_.policy;
    for (const std::string& host : hosts) {
      if (contains(policy.hosts, host)) {
        return bad(fmt::format("{} is in the list of hosts already", plain_or_quoted(host)));
      }
      policy.hosts.push_back(host);
    }
    if (policy.network == Network::None || policy.network == Network::Loopback) {
      policy.network = Network::AllowList;
    }
    made_.hosts = hosts;
    return {};
  }

  Result<Widening> finish() {
    made_.policy.name += kGrantedSuffix;
    auto checked = policy_from_json(to_json(made_.policy));
    if (!checked) {
      return bad(checked.error().message());
    }
    made_.policy = *std::move(checked);
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::vector<std::string> homes() const {
    std::vector<std::string> homes = place_.account_homes;
    homes.push_back(place_.home);
    return homes;
  }

  /// `path` is a protected name below one of the writable roots.
  Result<> add_protected(const std::string& path) {
    const auto holds = [&](const std::string& name) {
      return std::ranges::any_of(place_.writable_roots, [&](const std::string& root) {
        return path == fmt::format("{}/{}", root, name);
      });
    };
    const auto& names = made_.policy.protected_names;
    const auto name = std::ranges::find_if(names, holds);
    if (name == names.end()) {
      return bad(fmt::format("{} is held by another name and cannot be opened alone",
                             plain_or_quoted(path)));
    }
    made_.protected_names.push_back(*name);
    made_.policy.protected_names.erase(name);
    return {};
  }

  const Place& place_;
  Widening made_;
};

}  // namespace

Result<Widening> widen(const Policy& policy, const Place& place, const WideningRequest& request) {
  if (!policy.enforce) {
    return bad("this session has no wall; there is nothing to ask for");
  }
  const std::size_t count = request.write.size() + request.read.size() + request.hosts.size();
  if (count == 0 || count > kMaxEntries) {
    return bad(fmt::format("a request names 1 to {} paths and hosts", kMaxEntries));
  }
  Widener widener(policy, place);
  for (const std::string& path : request.read) {
    BAWN_TRY(widener.add_secret(path));
  }
  for (const std::string& path : request.write) {
    BAWN_TRY(widener.add_write(path));
  }
  BAWN_TRY(widener.add_hosts(request.hosts));
  return widener.finish();
}

}  // namespace bawn::sandbox
