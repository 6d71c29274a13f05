/// \file
/// Policies on disk: a file with what it includes, and the file that a project may bring along.
#pragma once

#include "bawn/sandbox/policy.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

/// A policy and the files that it came from, in the order in which they were applied.
struct LoadedPolicy {
  Policy policy;
  std::vector<std::string> files;
};

/// Reads a policy file. Its member "include" is a list of files, relative to the including one,
/// whose members are taken first, in order; its own members come last and replace theirs (those of
/// "limits" one by one). In "write" and "secrets" a leading ${workspace} or ${home} stands for that
/// directory. No file may lie in `workspace`, where a command could have written it.
///
/// Errors: InvalidArgument (no regular file, over 1 MiB, no JSON, unknown members, included more
/// than 8 deep), PermissionDenied (a file in the workspace), else by errno. All name the file.
/// Blocking: file reads; never on a FIFO or device.
[[nodiscard]] Result<LoadedPolicy> load_policy_file(const std::string& path,
                                                    const std::string& workspace);

/// The name of the file that a project may bring, at the top of the workspace.
inline constexpr std::string_view kProjectPolicyName = ".bawn.json";

/// What became of a project's file.
struct ProjectPolicy {
  Policy policy;         ///< the effective one
  bool found = false;    ///< there is such a file
  bool trusted = false;  ///< taken whole, since its hash was named
  std::string hash;      ///< "sha256:…" of its bytes
  /// Members by which it asked for more than `base` gives; what they asked for was left out.
  std::vector<std::string> refused;
};

/// Applies the workspace's .bawn.json to `base`. Every command may write it, so by itself it can
/// only narrow; with `accepted` equal to its hash it counts like a file of the user's.
///
/// Errors: as load_policy_file(); PermissionDenied when `accepted` is another hash.
[[nodiscard]] Result<ProjectPolicy> apply_project_policy(
    const Policy& base, const std::string& workspace, const std::optional<std::string>& accepted);

/// The policy that allows what both allow. `refused`, when given, receives the members of `wish`
/// that asked for more than `base`.
[[nodiscard]] Policy narrow(const Policy& base, const Policy& wish,
                            std::vector<std::string>* refused = nullptr);

}  // namespace bawn::sandbox
