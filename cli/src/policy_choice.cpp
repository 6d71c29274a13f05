#include "policy_choice.hpp"

#include "bawn/sandbox/policy_file.hpp"
#include "program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace bawn::cli {
namespace {

using contract::ErrorCode;
using contract::Result;

bool names_a_file(const std::string& word) {
  return word.find('/') != std::string::npos || word.ends_with(".json");
}

Result<ChosenPolicy> choose_base(const WallOptions& options) {
  ChosenPolicy chosen;
  if (names_a_file(options.policy)) {
    auto loaded = BAWN_TRY(sandbox::load_policy_file(options.policy, options.workspace));
    chosen.policy = std::move(loaded.policy);
    chosen.files = std::move(loaded.files);
  } else {
    chosen.policy = BAWN_TRY(sandbox::preset(options.policy));
  }
  if (!chosen.policy.enforce && !options.allow_unconfined) {
    return contract::fail(
        ErrorCode::PermissionDenied,
        fmt::format("the policy \"{}\" has no wall; add --allow-unconfined if that "
                    "is what you want",
                    chosen.policy.name));
  }
  chosen.policy.best_effort = chosen.policy.best_effort || options.best_effort;
  if (!options.hosts.empty()) {
    auto& hosts = chosen.policy.hosts;
    hosts.insert(hosts.end(), options.hosts.begin(), options.hosts.end());
    auto checked = sandbox::policy_from_json(sandbox::to_json(chosen.policy));
    if (!checked) {
      return std::unexpected(checked.error().wrap("--allow-host"));
    }
    chosen.policy = *std::move(checked);
  }
  return chosen;
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
  command.add_option("--accept-project", options.accept_project,
                     "Take the workspace's .bawn.json whole when it has this hash (sha256:...); "
                     "otherwise it can only narrow the policy");
}

void add_grant_option(CLI::App& command, WallOptions& options) {
  command
      .add_option("--grant", options.grant,
                  "What becomes of calls that ask for more than the policy gives: ask the user "
                  "through the client, or never grant")
      ->check(CLI::IsMember({"ask", "never"}))
      ->capture_default_str();
}

std::vector<std::string> words_of(const WallOptions& options) {
  std::vector<std::string> words = {"--policy", options.policy, "--workspace", options.workspace};
  for (const std::string& host : options.hosts) {
    words.insert(words.end(), {"--allow-host", host});
  }
  if (options.grant != "ask") {
    words.insert(words.end(), {"--grant", options.grant});
  }
  if (options.best_effort) {
    words.emplace_back("--best-effort");
  }
  if (options.allow_unconfined) {
    words.emplace_back("--allow-unconfined");
  }
  if (options.accept_project) {
    words.insert(words.end(), {"--accept-project", *options.accept_project});
  }
  return words;
}

Result<sandbox::Policy> choose_policy_without_project(const WallOptions& options) {
  return BAWN_TRY(choose_base(options)).policy;
}

Result<ChosenPolicy> choose_policy_with_sources(const WallOptions& options) {
  ChosenPolicy chosen = BAWN_TRY(choose_base(options));
  std::error_code failed;
  const auto status = std::filesystem::status(options.workspace, failed);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("workspace {} is not a directory", options.workspace));
  }
  auto project = BAWN_TRY(
      sandbox::apply_project_policy(chosen.policy, options.workspace, options.accept_project));
  if (!project.found && options.accept_project) {
    return contract::fail(ErrorCode::NotFound,
                          fmt::format("--accept-project is given, and the workspace {} has no {}",
                                      options.workspace, sandbox::kProjectPolicyName));
  }
  if (project.found && chosen.policy.enforce) {
    chosen.files.push_back(fmt::format("{}/{}", options.workspace, sandbox::kProjectPolicyName));
  }
  if (!project.refused.empty()) {
    chosen.warning = fmt::format(
        "{}/{} asks for more than the policy {} gives ({}), which is left out; --accept-project {} "
        "takes it whole",
        options.workspace, sandbox::kProjectPolicyName, chosen.policy.name,
        fmt::join(project.refused, ", "), project.hash);
  }
  chosen.policy = std::move(project.policy);
  return chosen;
}

Result<sandbox::Policy> choose_policy(const WallOptions& options) {
  ChosenPolicy chosen = BAWN_TRY(choose_policy_with_sources(options));
  if (!chosen.warning.empty()) {
    tell_failure("bawn", chosen.warning);
  }
  return std::move(chosen.policy);
}

}  // namespace bawn::cli
