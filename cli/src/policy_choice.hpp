/// \file
/// From the command line's words to a policy: a preset's name or a JSON file.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/sandbox/policy.hpp"

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
};

void add_wall_options(CLI::App& command, WallOptions& options);

/// The chosen policy: a preset, or a JSON file when the word contains a slash or ends in ".json".
///
/// Errors: NotFound (neither), InvalidArgument (a bad file), PermissionDenied (unconfined without
/// --allow-unconfined, or a file that lies in the workspace).
[[nodiscard]] contract::Result<sandbox::Policy> choose_policy(const WallOptions& options);

}  // namespace bawn::cli
