#include "survey.hpp"

#include "bawn/sandbox/own_state.hpp"
#include "paths.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace bawn::sandbox {
namespace {

std::unexpected<Error> bad(std::string sentence) {
  return contract::fail(ErrorCode::InvalidArgument, std::move(sentence));
}

Result<> find_workspace(Place& place, const std::string& workspace) {
  place.workspace = canonical(workspace);
  if (place.workspace.empty()) {
    return std::unexpected(
        Error::from_errno(errno, "realpath", fmt::format("workspace {}", workspace)));
  }
  if (kind_of(place.workspace) != FileKind::Directory) {
    return bad(fmt::format("workspace {} is not a directory", workspace));
  }
  if (place.workspace == "/") {
    return bad("the workspace must not be \"/\"; name the project's own directory");
  }
  if (belongs_to_kernel(place.workspace)) {
    return bad(
        fmt::format("the workspace must not lie in /proc, /sys or /dev, as {} does; only "
                    "/dev/shm there may hold one",
                    place.workspace));
  }
  return {};
}

/// The way to one entry of the policy's `write`.
struct WayToRoot {
  std::string path;  ///< as the policy has it
  Way way;
};

Result<std::vector<WayToRoot>> find_writable_roots(Place& place, const Policy& policy) {
  std::vector<WayToRoot> ways;
  if (policy.write_workspace) {
    place.writable_roots.push_back(place.workspace);
  }
  for (const std::string& wanted : policy.write) {
    for (const std::string& path : expand_home(wanted, {place.home})) {
      Way way = follow(path);
      const std::string& root = way.end;
      if (root == "/") {
        return bad("\"/\" cannot be a writable root");
      }
      if (belongs_to_kernel(root)) {
        return bad(
            fmt::format("the policy's write names {}{}: in /proc, /sys and /dev nothing can be a "
                        "writable root but /dev/shm and what lies below it",
                        path, root == path ? "" : fmt::format(", which leads to {}", root)));
      }
      if (root.empty()) {
        continue;
      }
      if (!contains(place.writable_roots, root)) {
        place.writable_roots.push_back(root);
      }
      ways.push_back({path, std::move(way)});
    }
  }
  return ways;
}

/// It, or a directory above it, is another user's in a directory that all may write to, like /tmp.
bool is_anybodys(const Place& place, const std::string& link) {
  for (std::string at = link; at != "/"; at = parent_of(at)) {
    struct stat status{};
    struct stat around{};
    if (::lstat(at.c_str(), &status) == 0 && status.st_uid != 0 &&
        status.st_uid != place.caller_uid && ::stat(parent_of(at).c_str(), &around) == 0 &&
        (around.st_mode & S_IWOTH) != 0) {
      return true;
    }
  }
  return false;
}

/// Whoever may write where a link of a root lies decides what is writable in the next session.
Result<> check_links(const Place& place, const std::vector<WayToRoot>& ways) {
  std::vector<std::string> roots = place.writable_roots;
  roots.push_back(place.workspace);  // another policy may let it be written
  for (const auto& [path, way] : ways) {
    for (const std::string& link : way.links) {
      if (is_within_any(link, roots) || is_anybodys(place, link)) {
        return bad(fmt::format(
            "the policy's write names {}, which the link {} leads to {}: a command or another user "
            "could have made that link; name the directory itself",
            path, link, way.end));
      }
    }
  }
  return {};
}

/// A mask over the state lets the session's own part of it through by a private /run; a writable
/// root that covers or lies in it would bring back the rest, as would the lack of mounts.
bool opens_state(const Policy& policy, const std::string& state, const std::string& root) {
  return is_within(root, state) ||
         (is_below(state, root) && (is_below(state, "/run") || policy.best_effort));
}

Result<> check_state(const Place& place, const Policy& policy) {
  const std::string state = own_state_directory();
  const std::string found = canonical(state);
  // What exists is masked; what does not exist yet could be made by a command.
  for (const std::string& root : place.writable_roots) {
    if (found.empty() && is_within(state, root)) {
      return bad(
          fmt::format("bawn's own state {} would lie in the writable {}; make that directory "
                      "first, so that it can be hidden",
                      state, root));
    }
    if (!found.empty() && opens_state(policy, found, root)) {
      return bad(
          fmt::format("the writable {} would open bawn's own state {}; name a narrower directory, "
                      "or set BAWN_RUNTIME_DIR",
                      root, found));
    }
    if (!place.session_dir.empty() && is_within(place.session_dir, root) &&
        !is_within_any(place.session_dir, place.existing_secrets)) {
      return bad(
          fmt::format("the session directory {} lies in the writable {}", place.session_dir, root));
    }
  }
  return {};
}

}  // namespace

FileKind kind_of(const std::string& path) noexcept {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    return FileKind::Missing;
  }
  switch (status.st_mode & S_IFMT) {
    case S_IFDIR:
      return FileKind::Directory;
    case S_IFREG:
      return FileKind::Regular;
    case S_IFLNK:
      return FileKind::Link;
    case S_IFSOCK:
      return FileKind::Socket;
    default:
      return FileKind::Other;
  }
}

std::string canonical(const std::string& path) {
  char buffer[PATH_MAX];
  return ::realpath(path.c_str(), buffer) != nullptr ? std::string(buffer) : std::string();
}

std::vector<std::string> expand_home(std::string_view path, const std::vector<std::string>& homes) {
  if (!path.starts_with("~/")) {
    return {std::string(path)};
  }
  std::vector<std::string> paths;
  for (const std::string& home : homes) {
    paths.push_back(fmt::format("{}/{}", home, path.substr(2)));
  }
  return paths;
}

Result<Place> survey(const Policy& policy, const std::string& workspace,
                     const std::string& session_dir, SurveyScope scope) {
  Place place;
  BAWN_TRY(find_workspace(place, workspace));
  BAWN_TRY(find_identity(place, policy));
  if (!session_dir.empty()) {
    place.session_dir = canonical(session_dir);
    if (place.session_dir.empty()) {
      return std::unexpected(
          Error::from_errno(errno, "realpath", fmt::format("session directory {}", session_dir)));
    }
  }
  if (!policy.enforce) {
    return place;
  }
  const std::vector<WayToRoot> ways = BAWN_TRY(find_writable_roots(place, policy));
  BAWN_TRY(check_links(place, ways));
  BAWN_TRY(find_secrets(place, policy));
  find_linked_secrets(place);
  BAWN_TRY(check_state(place, policy));
  open_git_directories(place);
  find_protected_names(place, policy);
  if (scope != SurveyScope::Roots) {
    find_repositories(place, policy);
  }
  find_shared_directories(place);
  find_kernel_masks(place);
  find_host_sockets(place);
  if (!place.session_dir.empty()) {
    find_top_level(place);
    if (kind_of(place.session_dir + "/tmp") == FileKind::Directory) {
      place.private_tmp = place.session_dir + "/tmp";
    }
  }
  place.has_siblings = scope == SurveyScope::Full;
  if (place.has_siblings) {
    find_siblings(place);
  }
  return place;
}

}  // namespace bawn::sandbox
