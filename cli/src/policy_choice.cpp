#include "policy_choice.hpp"

#include "bawn/contract/json.hpp"
#include "bawn/os/unique_fd.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace bawn::cli {
namespace {

using contract::ErrorCode;
using contract::Result;

/// Larger than any policy a person writes.
constexpr std::size_t kMaxPolicyBytes = 1 << 20;

bool names_a_file(const std::string& word) {
  return word.find('/') != std::string::npos || word.ends_with(".json");
}

/// A policy that a command of the session could have written would be no policy.
Result<> check_outside(const std::string& path, const std::string& workspace) {
  std::error_code failed;
  const std::string file = std::filesystem::weakly_canonical(path, failed).string();
  const std::string root = std::filesystem::weakly_canonical(workspace, failed).string();
  if (failed || file.starts_with(root.ends_with('/') ? root : root + "/")) {
    return contract::fail(
        ErrorCode::PermissionDenied,
        fmt::format("the policy file {} lies in the workspace {}, where a command could have "
                    "changed it; keep it outside",
                    path, root));
  }
  return {};
}

/// The whole file; nothing but a regular file, so that a FIFO or a device cannot hold us.
Result<std::string> read_regular_file(const std::string& path) {
  const os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat found{};
  if (!fd.is_open() || ::fstat(fd.get(), &found) != 0) {
    return std::unexpected(contract::Error::from_errno(
        errno, "open", fmt::format("cannot read the policy file {}", path)));
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
      return std::unexpected(contract::Error::from_errno(
          errno, "read", fmt::format("cannot read the policy file {}", path)));
    }
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return text;
}

Result<sandbox::Policy> read_policy_file(const std::string& path, const std::string& workspace) {
  BAWN_TRY(check_outside(path, workspace));
  const std::string text = BAWN_TRY(read_regular_file(path));
  if (text.size() > kMaxPolicyBytes) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("{} is over 1 MiB, too large for a policy file", path));
  }
  auto json = contract::parse_json(text);
  if (!json) {
    return std::unexpected(json.error().wrap(path));
  }
  auto policy = sandbox::policy_from_json(*json);
  if (!policy) {
    return std::unexpected(policy.error().wrap(path));
  }
  return policy;
}

}  // namespace

void add_wall_options(CLI::App& command, WallOptions& options) {
  command
      .add_option("--policy", options.policy, "A preset (bawn doctor lists them) or a JSON file")
      ->capture_default_str();
  command.add_option("--workspace", options.workspace, "The directory that the command works in")
      ->capture_default_str();
  command.add_option("--allow-host", options.hosts,
                     "One more host that may be reached, as in the policy's \"hosts\" "
                     "(example.org, *.example.org:443); repeatable");
  command.add_flag("--best-effort", options.best_effort,
                   "Start even when a guarantee cannot be had; every report says what is missing");
  command.add_flag("--allow-unconfined", options.allow_unconfined,
                   "Permit the policy \"unconfined\", which has no wall at all");
}

Result<sandbox::Policy> choose_policy(const WallOptions& options) {
  auto policy = names_a_file(options.policy) ? read_policy_file(options.policy, options.workspace)
                                             : sandbox::preset(options.policy);
  if (!policy) {
    return policy;
  }
  if (!policy->enforce && !options.allow_unconfined) {
    return contract::fail(
        ErrorCode::PermissionDenied,
        fmt::format("the policy \"{}\" has no wall; add --allow-unconfined if that "
                    "is what you want",
                    policy->name));
  }
  policy->best_effort = policy->best_effort || options.best_effort;
  if (options.hosts.empty()) {
    return policy;
  }
  policy->hosts.insert(policy->hosts.end(), options.hosts.begin(), options.hosts.end());
  auto checked = sandbox::policy_from_json(sandbox::to_json(*policy));
  if (!checked) {
    return std::unexpected(checked.error().wrap("--allow-host"));
  }
  return checked;
}

}  // namespace bawn::cli
