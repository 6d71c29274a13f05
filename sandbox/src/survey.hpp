/// \file
/// The parts of survey(): each fills one group of facts of a Place.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

enum class FileKind { Missing, Directory, Regular, Link, Socket, Other };

/// What `path` itself is; a final link is not followed.
[[nodiscard]] FileKind kind_of(const std::string& path) noexcept;

/// Whether its owner hides it from everyone but root anyway.
[[nodiscard]] bool is_for_root_only(const std::string& path) noexcept;

/// The path without links, "." and ".."; empty when it cannot be resolved.
[[nodiscard]] std::string canonical(const std::string& path);

/// What lies on the way to an absolute path.
struct Way {
  std::vector<std::string> links;  ///< that are followed, each at its own place
  std::string end;                 ///< as canonical(); empty when it cannot be resolved
};
[[nodiscard]] Way follow(const std::string& path);

/// "~/x" below each of `homes`, other paths as they are.
[[nodiscard]] std::vector<std::string> expand_home(std::string_view path,
                                                   const std::vector<std::string>& homes);

/// Who commands run as, its name and home. Reads /etc/passwd itself: name services may block.
[[nodiscard]] Result<> find_identity(Place& place, const Policy& policy);

/// Secrets that exist. Errors: InvalidArgument when one leads to a directory that must stay usable.
[[nodiscard]] Result<> find_secrets(Place& place, const Policy& policy);
/// Files that links in secret directories lead to: as secret as the links.
void find_linked_secrets(Place& place);
/// Opens what a commit writes in the git directories of writable roots that are linked worktrees or
/// submodules: more writable roots. After the secrets, which stay closed.
void open_git_directories(Place& place);
void find_protected_names(Place& place, const Policy& policy);
/// Sorts `path`, below `root`, by whether a bind can hold it. Once it is known nothing is added.
/// One that is not there is listed only when it is `needed`.
void add_protected_path(Place& place, const std::string& root, const std::string& path,
                        bool needed);
/// Git directories below the writable roots, within bounds, and their protected names.
void find_repositories(Place& place, const Policy& policy);
void find_shared_directories(Place& place);
void find_top_level(Place& place);
void find_kernel_masks(Place& place);
void find_host_sockets(Place& place);
/// The readable siblings along the way to each secret, for Landlock without mounts.
void find_siblings(Place& place);

}  // namespace bawn::sandbox
