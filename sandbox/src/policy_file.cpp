#include "bawn/sandbox/policy_file.hpp"

#include "bawn/contract/canonical.hpp"
#include "bawn/os/unique_fd.hpp"
#include "paths.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace bawn::sandbox {
namespace {

/// Larger than any policy a person writes.
constexpr std::size_t kMaxPolicyBytes = 1 << 20;
constexpr int kMaxIncludeDepth = 8;

std::string resolved(const std::string& path) {
  std::error_code failed;
  const auto found = std::filesystem::weakly_canonical(path, failed);
  return failed ? std::string() : found.string();
}

/// A policy that a command of the session could have written would be no policy.
Result<> check_outside(const std::string& path, const std::string& workspace) {
  const std::string file = resolved(path);
  const std::string root = resolved(workspace);
  if (file.empty() || (!root.empty() && is_within(file, root))) {
    return contract::fail(
        ErrorCode::PermissionDenied,
        fmt::format("the policy file {} lies in the workspace {}, where a command could have "
                    "changed it; keep it outside",
                    path, root));
  }
  return {};
}

/// The whole file; nothing but a regular file, so that a FIFO or a device cannot hold us.
Result<std::string> read_regular_file(const std::string& path, int flags = 0) {
  const os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags));
  struct stat found{};
  if (!fd.is_open() || ::fstat(fd.get(), &found) != 0) {
    return std::unexpected(
        Error::from_errno(errno, "open", fmt::format("cannot read the policy file {}", path)));
  }
  if (!S_ISREG(found.st_mode)) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("the policy file {} is no regular file", path));
  }
  std::string text(kMaxPolicyBytes + 1, '\0');
  std::size_t size = 0;
  for (ssize_t count = 1; count > 0 && size < text.size();) {
    count = ::read(fd.get(), text.data() + size, text.size() - size);
    if (count < 0) {
      return std::unexpected(
          Error::from_errno(errno, "read", fmt::format("cannot read the policy file {}", path)));
    }
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  if (size > kMaxPolicyBytes) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("{} is over 1 MiB, too large for a policy file", path));
  }
  return text;
}

Result<Json> parse(const std::string& path, const std::string& text) {
  auto json = contract::parse_json(text);
  if (!json) {
    return std::unexpected(json.error().wrap(path));
  }
  if (!json->is_object()) {
    return contract::fail(ErrorCode::InvalidArgument, path + ": a policy must be an object");
  }
  return json;
}

void expand_variables(Json& json, const std::string& workspace) {
  for (const char* member : {"write", "secrets"}) {
    const auto list = json.find(member);
    if (list == json.end() || !list->is_array()) {
      continue;
    }
    for (Json& item : *list) {
      if (!item.is_string()) {
        continue;
      }
      const std::string path = item.get<std::string>();
      for (const auto& [variable, value] :
           {std::pair<std::string_view, std::string>{"${workspace}", resolved(workspace)},
            {"${home}", "~"}}) {
        if (path.starts_with(variable)) {
          item = value + path.substr(variable.size());
        }
      }
    }
  }
}

/// What reads right as a part of a policy, with a name put in where the part has none.
Result<> check_part(const Json& json) {
  Json named = json;
  named.erase("include");
  if (!named.contains("name") && !named.contains("extends")) {
    named["name"] = "part";
  }
  if (!named.contains("network") && !named.contains("extends")) {
    named["network"] = "allow-list";  // another part may say so for the hosts of this one
  }
  auto policy = policy_from_json(named);
  return policy ? Result<>() : std::unexpected(policy.error());
}

void merge(Json& base, const Json& more) {
  for (const auto& [name, value] : more.items()) {
    if (name == "limits" && base.contains(name) && value.is_object()) {
      base[name].update(value);
    } else if (name != "include") {
      base[name] = value;
    }
  }
}

/// Collects a file and what it includes into one object.
class Collector {
 public:
  explicit Collector(const std::string& workspace) : workspace_(workspace) {}

  Result<> take(const std::string& path, int depth) {
    if (depth > kMaxIncludeDepth) {
      return contract::fail(ErrorCode::InvalidArgument,
                            fmt::format("{} is included more than {} files deep; a file may not "
                                        "include itself",
                                        path, kMaxIncludeDepth));
    }
    BAWN_TRY(check_outside(path, workspace_));
    const std::string text = BAWN_TRY(read_regular_file(path));
    Json json = BAWN_TRY(parse(path, text));
    expand_variables(json, workspace_);
    if (const auto includes = json.find("include"); includes != json.end()) {
      BAWN_TRY(take_all(*includes, path, depth));
    }
    if (auto checked = check_part(json); !checked) {
      return std::unexpected(checked.error().wrap(path));
    }
    merge(merged_, json);
    files_.push_back(path);
    return {};
  }

  Result<LoadedPolicy> finish() {
    return LoadedPolicy{.policy = BAWN_TRY(policy_from_json(merged_)), .files = std::move(files_)};
  }

 private:
  Result<> take_all(const Json& includes, const std::string& path, int depth) {
    if (!includes.is_array()) {
      return contract::fail(ErrorCode::InvalidArgument,
                            path + ": policy member include must be a list of texts");
    }
    for (const Json& include : includes) {
      if (!include.is_string() || include.get_ref<const std::string&>().empty()) {
        return contract::fail(ErrorCode::InvalidArgument,
                              path + ": policy member include must be a list of texts");
      }
      const auto folder = std::filesystem::path(path).parent_path();
      BAWN_TRY(take((folder / include.get<std::string>()).lexically_normal().string(), depth + 1));
    }
    return {};
  }

  const std::string& workspace_;
  Json merged_ = Json::object();
  std::vector<std::string> files_;
};

/// The project's file read over `base`: members that it does not name are base's.
Result<Policy> read_over(const Policy& base, const std::string& path, const std::string& text,
                         const std::string& workspace) {
  Json json = BAWN_TRY(parse(path, text));
  for (const char* member : {"include", "extends", "enforce"}) {
    if (json.contains(member)) {
      return contract::fail(
          ErrorCode::InvalidArgument,
          fmt::format("{}: policy member {} is not for a project's file", path, member));
    }
  }
  expand_variables(json, workspace);
  Json merged = to_json(base);
  if (const auto network = json.find("network");
      network != json.end() && (*network == "none" || *network == "loopback")) {
    merged.erase("hosts");  // base's list would make no sense, and the wish would be refused
    merged.erase("host_addresses");
  }
  merge(merged, json);
  auto policy = policy_from_json(merged);
  return policy ? policy : std::unexpected(policy.error().wrap(path));
}

}  // namespace

Result<LoadedPolicy> load_policy_file(const std::string& path, const std::string& workspace) {
  Collector collector(workspace);
  BAWN_TRY(collector.take(path, 0));
  auto loaded = collector.finish();
  return loaded ? std::move(loaded) : std::unexpected(loaded.error().wrap(path));
}

Result<ProjectPolicy> apply_project_policy(const Policy& base, const std::string& workspace,
                                           const std::optional<std::string>& accepted) {
  ProjectPolicy project;
  project.policy = base;
  const std::string path = fmt::format("{}/{}", workspace, kProjectPolicyName);
  // A link would let a command choose which of our files is read and quoted in a message.
  const auto text = read_regular_file(path, O_NOFOLLOW);
  if (!text && text.error().is(ErrorCode::NotFound)) {
    return project;
  }
  if (!text) {
    return std::unexpected(text.error());
  }
  project.found = true;
  project.hash = "sha256:" + contract::sha256_hex(*text);
  if (accepted && *accepted != project.hash) {
    return contract::fail(ErrorCode::PermissionDenied,
                          fmt::format("{} has the hash {}, not the accepted {}; read it again "
                                      "before you accept it",
                                      path, project.hash, *accepted));
  }
  if (!base.enforce) {
    return project;
  }
  Policy wish = BAWN_TRY(read_over(base, path, *text, workspace));
  project.trusted = accepted.has_value();
  project.policy = project.trusted ? std::move(wish) : narrow(base, wish, &project.refused);
  return project;
}

}  // namespace bawn::sandbox
