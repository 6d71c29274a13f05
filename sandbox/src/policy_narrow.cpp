#include "bawn/sandbox/policy_file.hpp"
#include "paths.hpp"

#include <algorithm>
#include <functional>

namespace bawn::sandbox {
namespace {

constexpr const char* kNarrowedSuffix = " + .bawn.json";

/// Collects the names of members that asked for too much.
class Refusals {
 public:
  explicit Refusals(std::vector<std::string>* names) : names_(names) {}
  void add_if(bool wider, const char* name) {
    if (wider && names_ != nullptr) {
      names_->emplace_back(name);
    }
  }

 private:
  std::vector<std::string>* names_;
};

std::vector<std::string> joined(std::vector<std::string> base,
                                const std::vector<std::string>& more) {
  for (const std::string& item : more) {
    if (!contains(base, item)) {
      base.push_back(item);
    }
  }
  return base;
}

std::vector<std::string> common(const std::vector<std::string>& wish,
                                const std::function<bool(const std::string&)>& allowed) {
  std::vector<std::string> kept;
  std::ranges::copy_if(wish, std::back_inserter(kept), allowed);
  return kept;
}

/// A pattern within a pattern. An exact name would let in what only looks like a credential, which
/// the pattern above it keeps out: it must be the policy's own.
bool is_in_patterns(const std::vector<std::string>& patterns, const std::string& wish) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return pattern == wish || (pattern.ends_with('*') && wish.ends_with('*') &&
                               std::string_view(wish).starts_with(
                                   std::string_view(pattern).substr(0, pattern.size() - 1)));
  });
}

void lower(std::optional<std::uint64_t>& base, const std::optional<std::uint64_t>& wish,
           Refusals& refusals, const char* name) {
  const bool wider = base && (!wish || *wish > *base);
  refusals.add_if(wider, name);
  if (wish && !wider) {
    base = wish;
  }
}

void narrow_limits(Limits& base, const Limits& wish, Refusals& refusals) {
  lower(base.processes, wish.processes, refusals, "limits.processes");
  lower(base.memory_bytes, wish.memory_bytes, refusals, "limits.memory_bytes");
  lower(base.file_size_bytes, wish.file_size_bytes, refusals, "limits.file_size_bytes");
  lower(base.open_files, wish.open_files, refusals, "limits.open_files");
  lower(base.tmp_bytes, wish.tmp_bytes, refusals, "limits.tmp_bytes");
  lower(base.session_memory_bytes, wish.session_memory_bytes, refusals,
        "limits.session_memory_bytes");
  lower(base.cpu_percent, wish.cpu_percent, refusals, "limits.cpu_percent");
}

/// Off < Auto < Required: a wish may only go up.
void raise_layer(LayerMode& base, LayerMode wish, Refusals& refusals, const char* name) {
  const auto rank = [](LayerMode mode) {
    return mode == LayerMode::Off ? 0 : mode == LayerMode::Auto ? 1 : 2;
  };
  refusals.add_if(rank(wish) < rank(base), name);
  base = rank(wish) > rank(base) ? wish : base;
}

bool is_own(Network network) {
  return network == Network::None || network == Network::Loopback;
}

/// Without a network everything is narrower; a list only narrows a list, entry by entry, since
/// whether one pattern lies within another is not for text to say.
void narrow_network(Policy& policy, const Policy& wish, Refusals& refusals) {
  if (is_own(wish.network)) {
    if (!is_own(policy.network)) {
      policy.network = wish.network;
      policy.hosts.clear();
      policy.host_addresses.clear();
    }
    return;
  }
  refusals.add_if(wish.network != policy.network, "network");
  if (wish.network != policy.network) {
    return;
  }
  const auto kept =
      common(wish.hosts, [&](const std::string& host) { return contains(policy.hosts, host); });
  refusals.add_if(kept.size() < wish.hosts.size(), "hosts");
  refusals.add_if(wish.host_addresses != policy.host_addresses, "host_addresses");
  policy.hosts = kept;
}

}  // namespace

Policy narrow(const Policy& base, const Policy& wish, std::vector<std::string>* refused) {
  Refusals refusals(refused);
  Policy policy = base;
  policy.name = base.name + kNarrowedSuffix;  // a name of the project's choice could mislead
  refusals.add_if(wish.write_workspace && !base.write_workspace, "write_workspace");
  policy.write_workspace = base.write_workspace && wish.write_workspace;
  // Whole entries only: below a writable root a command can make a link to anywhere, and the path
  // that is asked for here would be followed when the next session starts.
  policy.write = common(wish.write, [&](const auto& path) { return contains(base.write, path); });
  refusals.add_if(policy.write.size() < wish.write.size(), "write");
  policy.secrets = joined(base.secrets, wish.secrets);
  policy.protected_names = joined(base.protected_names, wish.protected_names);
  policy.env_allow = common(wish.env_allow,
                            [&](const auto& name) { return is_in_patterns(base.env_allow, name); });
  refusals.add_if(policy.env_allow.size() < wish.env_allow.size(), "env_allow");
  narrow_network(policy, wish, refusals);
  raise_layer(policy.landlock, wish.landlock, refusals, "landlock");
  raise_layer(policy.seccomp, wish.seccomp, refusals, "seccomp");
  raise_layer(policy.namespaces, wish.namespaces, refusals, "namespaces");
  raise_layer(policy.hygiene, wish.hygiene, refusals, "hygiene");
  raise_layer(policy.cgroup, wish.cgroup, refusals, "cgroup");
  for (const Guarantee guarantee : wish.require) {
    if (std::ranges::find(policy.require, guarantee) == policy.require.end()) {
      policy.require.push_back(guarantee);
    }
  }
  refusals.add_if(wish.best_effort && !base.best_effort, "best_effort");
  policy.best_effort = base.best_effort && wish.best_effort;
  refusals.add_if(wish.run_as != base.run_as, "run_as");
  narrow_limits(policy.limits, wish.limits, refusals);
  return policy;
}

}  // namespace bawn::sandbox
