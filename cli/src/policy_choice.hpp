/// \file
/// From the command line's words to a policy: a preset's name or a JSON file.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/sandbox/policy.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bawn::cli {

/// The options that every subcommand with a wall shares.
struct WallOptions {
  std::string policy = "workspace-write";
  std::string workspace = ".";
  std::vector<std::string> hosts{};  ///< added to those of the policy
  bool best_effort = false;
  bool allow_unconfined = false;
  std::optional<std::string> accept_project = std::nullopt;  ///< hash of the workspace's .bawn.json
  /// What becomes of calls that ask for more: "ask" the person behind the call, or "never".
  std::string grant = "ask";
  /// Asked before each such question: why nobody can be trusted to answer it; empty when somebody
  /// can. Called concurrently.
  std::function<std::string()> no_answer{};
};

void add_wall_options(CLI::App& command, WallOptions& options);
/// And this one, which programs that serve tools have besides.
void add_grant_option(CLI::App& command, WallOptions& options);

/// The same choice as words for another program of ours, every option of `add_wall_options` among
/// them: one that got lost on the way would change the wall without a word.
[[nodiscard]] std::vector<std::string> words_of(const WallOptions& options);

/// A policy and where it came from.
struct ChosenPolicy {
  sandbox::Policy policy;
  std::vector<std::string> files;  ///< in the order in which they were applied
  std::string warning;             ///< what the project's file asked for and did not get
};

[[nodiscard]] contract::Result<ChosenPolicy> choose_policy_with_sources(const WallOptions& options);

/// The same without the workspace's .bawn.json.
[[nodiscard]] contract::Result<sandbox::Policy> choose_policy_without_project(
    const WallOptions& options);

/// The chosen policy: a preset, or a JSON file when the word contains a slash or ends in ".json",
/// narrowed by the workspace's .bawn.json. What that file asked for in vain goes to standard error.
///
/// Errors: NotFound (neither), InvalidArgument (a bad file), PermissionDenied (unconfined without
/// --allow-unconfined, or a file that lies in the workspace).
[[nodiscard]] contract::Result<sandbox::Policy> choose_policy(const WallOptions& options);

}  // namespace bawn::cli
