/// \file
/// What git's own directories look like, as facts about files. Nothing here trusts what it reads:
/// everything in a working tree may be hostile.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bawn::sandbox {

/// Where git would take `directory` for a repository's: it has a HEAD, and objects and refs, or the
/// `commondir` of a linked worktree that leads to them.
[[nodiscard]] bool is_git_directory(const std::string& directory);

/// The git directory of a linked worktree, which has its configuration elsewhere.
[[nodiscard]] bool is_worktree_directory(const std::string& directory);

/// Where a `.git` file leads.
struct GitLink {
  std::string directory;  ///< the git directory, canonical
  std::string common;     ///< the one with objects and refs, canonical; often the same
  /// The git directory names the working tree: nobody can make that true who may not write there.
  bool leads_back = false;
};

/// Follows `root`/.git. Nothing when it is no file that leads to a git directory.
///
/// Blocking: file reads of at most 256 KiB.
[[nodiscard]] std::optional<GitLink> follow_git_file(const std::string& root);

/// The common directories of which `roots` holds the objects and the refs: those of linked
/// worktrees that were opened for git. Pure.
[[nodiscard]] std::vector<std::string> common_directories(const std::vector<std::string>& roots);

/// Names of `protected_names` that lie in ".git/", relative to it.
[[nodiscard]] std::vector<std::string> names_in_git(
    const std::vector<std::string>& protected_names);

/// A protected name of a git directory that holds a path.
struct HeldGitName {
  std::string directory;  ///< the git directory
  std::string name;       ///< relative to it
};

/// The git directory above `path` one of whose `names` is `path` or holds it.
[[nodiscard]] std::optional<HeldGitName> git_name_above(const std::string& path,
                                                        const std::vector<std::string>& names);

}  // namespace bawn::sandbox
