#include "bawn/contract/quote.hpp"
#include "bawn/sandbox/policy.hpp"
#include "nearest.hpp"
#include "net/host_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>

namespace bawn::sandbox {
namespace {

std::unexpected<Error> bad(std::string_view path, std::string_view what) {
  return contract::fail(ErrorCode::InvalidArgument, fmt::format("policy member {} {}", path, what));
}

Result<> read_into(bool& value, const Json& json, const std::string& path) {
  if (!json.is_boolean()) {
    return bad(path, "must be true or false");
  }
  value = json.get<bool>();
  return {};
}

Result<> read_into(std::string& value, const Json& json, const std::string& path) {
  if (!json.is_string() || json.get_ref<const std::string&>().empty()) {
    return bad(path, "must be a text that is not empty");
  }
  value = json.get<std::string>();
  if (value.find('\0') != std::string::npos) {
    return bad(path, "must not hold a NUL character");
  }
  return {};
}

Result<> read_into(std::vector<std::string>& value, const Json& json, const std::string& path) {
  if (!json.is_array()) {
    return bad(path, "must be a list of texts");
  }
  value.clear();
  for (std::size_t i = 0; i < json.size(); ++i) {
    BAWN_TRY(read_into(value.emplace_back(), json[i], fmt::format("{}[{}]", path, i)));
  }
  return {};
}

Result<> read_into(std::map<std::string, std::string>& value, const Json& json,
                   const std::string& path) {
  if (!json.is_object()) {
    return bad(path, "must be an object of texts");
  }
  value.clear();
  for (const auto& [name, text] : json.items()) {
    BAWN_TRY(
        read_into(value[name], text, contract::plain_or_quoted(fmt::format("{}.{}", path, name))));
  }
  return {};
}

Result<> read_into(std::optional<std::uint64_t>& value, const Json& json, const std::string& path) {
  if (json.is_null()) {
    value.reset();
    return {};
  }
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() == 0) {
    return bad(path, "must be a whole number above 0, or null for no limit");
  }
  value = json.get<std::uint64_t>();
  return {};
}

template <class Enum, std::size_t N>
Result<> read_word(Enum& value, const Json& json, const std::string& path,
                   const std::array<Enum, N>& choices) {
  std::vector<std::string> words;
  for (const Enum choice : choices) {
    words.emplace_back(to_string(choice));
    if (json.is_string() && json.get_ref<const std::string&>() == words.back()) {
      value = choice;
      return {};
    }
  }
  const std::string word = json.is_string() ? json.get<std::string>() : std::string();
  return bad(path, fmt::format("must be one of {}{}", fmt::join(words, ", "),
                               word.empty() ? "" : did_you_mean(word, words)));
}

Result<> read_into(Network& value, const Json& json, const std::string& path) {
  return read_word(value, json, path,
                   std::array{Network::None, Network::Loopback, Network::AllowList, Network::Full});
}

Result<> read_into(LayerMode& value, const Json& json, const std::string& path) {
  return read_word(value, json, path,
                   std::array{LayerMode::Auto, LayerMode::Required, LayerMode::Off});
}

Result<> read_into(RunAs& value, const Json& json, const std::string& path) {
  return read_word(value, json, path,
                   std::array{RunAs::WorkspaceOwner, RunAs::Root, RunAs::Caller});
}

Result<> read_into(std::vector<Guarantee>& value, const Json& json, const std::string& path) {
  if (!json.is_array()) {
    return bad(path, "must be a list of guarantees");
  }
  value.clear();
  for (std::size_t i = 0; i < json.size(); ++i) {
    BAWN_TRY(
        read_word(value.emplace_back(), json[i], fmt::format("{}[{}]", path, i),
                  std::array{Guarantee::FsWrite, Guarantee::Secrets, Guarantee::Network,
                             Guarantee::Signals, Guarantee::Lifetime, Guarantee::KernelSurface}));
  }
  return {};
}

Result<> read_into(Limits& value, const Json& json, const std::string& path);

/// A member's name and how it is read.
template <class Struct>
struct Member {
  const char* name;
  std::function<Result<>(Struct&, const Json&, const std::string&)> read;
};

template <class Struct, class Value>
Member<Struct> member(const char* name, Value Struct::* field) {
  return {name, [field](Struct& target, const Json& json, const std::string& path) {
            return read_into(target.*field, json, path);
          }};
}

template <class Struct>
Result<> read_members(Struct& target, const Json& json, const std::string& prefix,
                      const std::vector<Member<Struct>>& members,
                      const std::vector<std::string>& also_known = {}) {
  if (!json.is_object()) {
    return contract::fail(
        ErrorCode::InvalidArgument,
        fmt::format("{} must be an object", prefix.empty() ? "a policy" : "policy member limits"));
  }
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(also_known, name) != also_known.end()) {
      continue;
    }
    const auto found = std::ranges::find(members, name, &Member<Struct>::name);
    if (found == members.end()) {
      std::vector<std::string> known = also_known;
      for (const Member<Struct>& entry : members) {
        known.emplace_back(entry.name);
      }
      return bad(contract::plain_or_quoted(prefix + name),
                 fmt::format("is not known{}", did_you_mean(name, known)));
    }
    BAWN_TRY(found->read(target, value, prefix + name));
  }
  return {};
}

Result<> read_into(Limits& value, const Json& json, const std::string& path) {
  static const std::vector<Member<Limits>> kMembers = {
      member("processes", &Limits::processes),
      member("memory_bytes", &Limits::memory_bytes),
      member("file_size_bytes", &Limits::file_size_bytes),
      member("open_files", &Limits::open_files),
      member("tmp_bytes", &Limits::tmp_bytes),
      member("session_memory_bytes", &Limits::session_memory_bytes),
      member("cpu_percent", &Limits::cpu_percent),
  };
  return read_members(value, json, path + ".", kMembers);
}

const std::vector<Member<Policy>>& policy_members() {
  static const std::vector<Member<Policy>> kMembers = {
      member("name", &Policy::name),
      member("enforce", &Policy::enforce),
      member("write_workspace", &Policy::write_workspace),
      member("write", &Policy::write),
      member("secrets", &Policy::secrets),
      member("protected_names", &Policy::protected_names),
      member("env_allow", &Policy::env_allow),
      member("network", &Policy::network),
      member("hosts", &Policy::hosts),
      member("host_addresses", &Policy::host_addresses),
      member("landlock", &Policy::landlock),
      member("seccomp", &Policy::seccomp),
      member("namespaces", &Policy::namespaces),
      member("hygiene", &Policy::hygiene),
      member("cgroup", &Policy::cgroup),
      member("require", &Policy::require),
      member("best_effort", &Policy::best_effort),
      member("run_as", &Policy::run_as),
      member("limits", &Policy::limits),
  };
  return kMembers;
}

bool climbs(std::string_view path) {
  const std::string framed = fmt::format("/{}/", path);
  return framed.find("/../") != std::string::npos || framed.find("/./") != std::string::npos ||
         framed.find("//") != std::string::npos;
}

/// "/a/b" or "~/a", without steps that mean another path than they say.
Result<> check_paths(const std::vector<std::string>& paths, std::string_view member_name) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string_view path = paths[i];
    const auto refuse = [&](const char* why) {
      return bad(fmt::format("{}[{}]", member_name, i), why);
    };
    if (!path.starts_with('/') && !path.starts_with("~/")) {
      return refuse("must begin with / or ~/");
    }
    if (path == "/" || path == "~/") {
      return refuse("must name something below / or ~/");
    }
    if (path.ends_with('/')) {
      return refuse("must not end with a slash");
    }
    if (climbs(path.substr(path.starts_with('~') ? 2 : 1))) {
      return refuse("must hold no \"..\", \".\" or empty step");
    }
  }
  return {};
}

Result<> check(const Policy& policy) {
  if (policy.name.empty()) {
    return bad("name", "is missing; give one, or name a preset in \"extends\"");
  }
  BAWN_TRY(check_paths(policy.write, "write"));
  BAWN_TRY(check_paths(policy.secrets, "secrets"));
  for (std::size_t i = 0; i < policy.protected_names.size(); ++i) {
    const std::string& name = policy.protected_names[i];
    if (name.starts_with('/') || name.starts_with('~') || climbs(name)) {
      return bad(fmt::format("protected_names[{}]", i),
                 "must be relative to a writable root and hold no \"..\", \".\" or empty step");
    }
  }
  BAWN_TRY(net::HostRules::make(policy));
  if (policy.network != Network::AllowList && policy.network != Network::Full &&
      !(policy.hosts.empty() && policy.host_addresses.empty())) {
    return bad("hosts", "needs \"network\": \"allow-list\"");
  }
  if (!policy.enforce && policy.name != "unconfined") {
    return bad("enforce", "may be false only in the preset unconfined");
  }
  return {};
}

}  // namespace

Result<Policy> policy_from_json(const Json& json) {
  Policy policy;
  if (json.is_object() && json.contains("extends")) {
    std::string base;
    BAWN_TRY(read_into(base, json["extends"], "extends"));
    auto found = preset(base);
    if (!found) {
      return std::unexpected(found.error().wrap("policy member extends"));
    }
    policy = *std::move(found);
  }
  BAWN_TRY(read_members(policy, json, "", policy_members(), {"extends"}));
  BAWN_TRY(check(policy));
  return policy;
}

}  // namespace bawn::sandbox
