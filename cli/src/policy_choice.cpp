#include "policy_choice.hpp"

#include "bawn/contract/json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>

namespace bawn::cli {
namespace {

using contract::ErrorCode;
using contract::Result;

/// Larger than any policy a person writes.
constexpr std::size_t kMaxPolicyBytes = 1 << 20;

bool names_a_file(const std::string& word) {
  return word.find('/') != std::string::npos || word.ends_with(".json");
}

Result<sandbox::Policy> read_policy_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return std::unexpected(contract::Error::from_errno(
        errno, "open", fmt::format("cannot read the policy file {}", path)));
  }
  std::string text(kMaxPolicyBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
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
  command.add_flag("--best-effort", options.best_effort,
                   "Start even when a guarantee cannot be had; every report says what is missing");
  command.add_flag("--allow-unconfined", options.allow_unconfined,
                   "Permit the policy \"unconfined\", which has no wall at all");
}

Result<sandbox::Policy> choose_policy(const WallOptions& options) {
  auto policy = names_a_file(options.policy) ? read_policy_file(options.policy)
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
  return policy;
}

}  // namespace bawn::cli
