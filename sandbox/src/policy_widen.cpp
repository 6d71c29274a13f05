#include "bawn/contract/quote.hpp"
#include "bawn/sandbox/own_state.hpp"
#include "bawn/sandbox/widen.hpp"
#include "git_directory.hpp"
#include "paths.hpp"
#include "survey.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::sandbox {
namespace {

using contract::plain_or_quoted;

constexpr std::size_t kMaxEntries = 16;
constexpr std::string_view kGit = ".git/";
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

bool is_own_state(const std::string& path) {
  return std::ranges::any_of(own_secrets(), [&](const std::string& secret) {
    const std::string own = canonical(secret);
    return !own.empty() && (is_within(path, own) || is_within(own, path));
  });
}

class Widener {
 public:
  Widener(const Policy& policy, const Place& place)
      : place_(place), names_(policy.protected_names) {
    made_.policy = policy;
  }

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
      return bad(fmt::format("{} {}", plain_or_quoted(path),
                             is_own_state(found)
                                 ? "is bawn's own and is never opened"
                                 : "is where a link in a secret directory leads; ask for that "
                                   "directory"));
    }
    made_.secrets.push_back(found);
    return {};
  }

  Result<> add_write(const std::string& path) {
    const std::string found = BAWN_TRY(resolve(place_, path));
    if (const std::string* name = holder_of(found, place_.existing_protected)) {
      return add_protected(*name);
    }
    if (found == "/" || belongs_to_kernel(found)) {
      return bad(fmt::format("{} is never writable", plain_or_quoted(path)));
    }
    if (is_within_any(found, place_.existing_secrets)) {
      return bad(
          fmt::format("{} lies in a secret, which is never writable", plain_or_quoted(path)));
    }
    if (is_own_state(found)) {
      return bad(fmt::format("{} holds what is bawn's own; ask for a narrower directory",
                             plain_or_quoted(path)));
    }
    if (is_within_any(found, place_.writable_roots)) {
      return bad(fmt::format("{} is writable without asking", plain_or_quoted(path)));
    }
    const auto held = git_name_above(found, names_in_git(names_));
    if (held) {
      return add_git_name(found, *held);
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

  /// `path` is a protected name below one of the writable roots, or of a git directory there.
  Result<> add_protected(const std::string& path) {
    const auto holds = [&](const std::string& name) {
      if (std::ranges::any_of(place_.writable_roots, [&](const std::string& root) {
            return path == fmt::format("{}/{}", root, name);
          })) {
        return true;
      }
      const std::string rest = name.starts_with(kGit) ? name.substr(kGit.size()) : std::string();
      return !rest.empty() && path.ends_with("/" + rest) &&
             is_git_directory(path.substr(0, path.size() - rest.size() - 1));
    };
    const auto name = std::ranges::find_if(names_, holds);
    if (name == names_.end()) {
      return bad(fmt::format("{} is held by another name and cannot be opened alone",
                             plain_or_quoted(path)));
    }
    open_name(*name);
    return {};
  }

  /// `path` lies in a protected name of a git directory outside. A directory is opened alone, a
  /// file can only be written where its directory can.
  Result<> add_git_name(const std::string& path, const HeldGitName& held) {
    if (kind_of(path) == FileKind::Directory) {
      made_.policy.write.push_back(path);
      made_.write.push_back(path);
      made_.protected_names.push_back(path);
      return {};
    }
    if (!is_within_any(path, place_.writable_roots) && !is_within_any(path, made_.write)) {
      return bad(fmt::format("{} is no directory; name {} before it in the same request",
                             plain_or_quoted(path), plain_or_quoted(held.directory)));
    }
    open_name(fmt::format("{}{}", kGit, held.name));
    return {};
  }

  /// Once for each name, however many paths ask for it.
  void open_name(const std::string& name) {
    if (std::erase(made_.policy.protected_names, name) > 0) {
      made_.protected_names.push_back(name);
    }
  }

  const Place& place_;
  const std::vector<std::string>& names_;  ///< the policy's protected names
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
