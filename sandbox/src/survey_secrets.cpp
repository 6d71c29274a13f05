#include "bawn/sandbox/own_state.hpp"
#include "directory_stream.hpp"
#include "git_directory.hpp"
#include "paths.hpp"
#include "survey.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace bawn::sandbox {
namespace {

/// A secret of somebody else that plain permissions already keep from this user needs no mask.
bool is_kept_by_permissions(const Place& place, const std::string& path, bool directory) {
  if (place.caller_uid == 0) {
    return false;
  }
  const int wanted = directory ? X_OK : R_OK;
  return ::faccessat(AT_FDCWD, path.c_str(), wanted, AT_EACCESS) != 0 &&
         (!directory || ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0);
}

/// A link at a secret's place may lead anywhere, in a writable home also by a command's will.
Result<> check_target(const Place& place, const std::string& listed, const std::string& target) {
  const bool top_level = target.find('/', 1) == std::string::npos;
  if (top_level || is_within(place.workspace, target) || is_within(place.home, target)) {
    return contract::fail(
        ErrorCode::InvalidArgument,
        listed == target
            ? fmt::format("the workspace {} or the home lies in {}, which the policy keeps secret",
                          place.workspace, target)
            : fmt::format("the secret {} is a link to {}, which cannot be hidden; remove the link",
                          listed, target));
  }
  return {};
}

/// Where "~/" may be: the session's home, the accounts' homes, and the caller's HOME.
std::vector<std::string> homes_of(const Place& place) {
  std::vector<std::string> homes = {place.home};
  const auto add = [&homes](const std::string& home) {
    if (!home.empty() && home != "/" && !contains(homes, home)) {
      homes.push_back(home);
    }
  };
  for (const std::string& home : place.account_homes) {
    add(home);
  }
  const char* own = std::getenv("HOME");
  if (own != nullptr && *own == '/') {
    add(canonical(own));
  }
  return homes;
}

/// Keeps the outermost of nested secrets: a mask hides what lies below it.
void drop_nested(Place& place) {
  std::ranges::sort(place.existing_secrets);
  std::vector<std::string> outer;
  for (std::string& path : place.existing_secrets) {
    if (!is_within_any(path, outer)) {
      outer.push_back(std::move(path));
    }
  }
  place.existing_secrets = std::move(outer);
  std::erase_if(place.secret_directories,
                [&](const std::string& path) { return !contains(place.existing_secrets, path); });
}

/// Names in a directory, without "." and "..", links left out.
std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  const DirectoryStream stream(::opendir(directory.c_str()));
  if (!stream) {
    return names;
  }
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    const std::string path =
        directory == "/" ? fmt::format("/{}", name) : fmt::format("{}/{}", directory, name);
    const bool is_link =
        entry->d_type == DT_LNK || (entry->d_type == DT_UNKNOWN && kind_of(path) == FileKind::Link);
    if (name != "." && name != ".." && !is_link) {
      names.push_back(path);
    }
  }
  std::ranges::sort(names);
  return names;
}

/// A path, or what lies below it and is not hidden.
void collect(Place& place, const std::string& path, const std::vector<std::string>& hidden) {
  if (contains(hidden, path)) {
    return;
  }
  const bool leads_to_secret = std::ranges::any_of(
      hidden, [&](const std::string& secret) { return is_below(secret, path); });
  if (!leads_to_secret) {
    place.readable_without_secrets.push_back(path);
    return;
  }
  for (const std::string& entry : entries_of(path)) {
    collect(place, entry, hidden);
  }
}

void hide(Place& place, const std::string& target) {
  if (contains(place.existing_secrets, target)) {
    return;
  }
  place.existing_secrets.push_back(target);
  if (kind_of(target) == FileKind::Directory) {
    place.secret_directories.push_back(target);
  }
}

Result<> find_own_secrets(Place& place) {
  for (const std::string& path : own_secrets()) {
    const std::string target = canonical(path);
    if (target.empty()) {
      continue;
    }
    if (is_within(place.workspace, target)) {
      return contract::fail(
          ErrorCode::InvalidArgument,
          fmt::format("the workspace {} lies in {}, which is bawn's own", place.workspace, target));
    }
    hide(place, target);
  }
  return {};
}

}  // namespace

Result<> find_secrets(Place& place, const Policy& policy) {
  const std::vector<std::string> homes = homes_of(place);
  for (const std::string& secret : policy.secrets) {
    for (const std::string& path : expand_home(secret, homes)) {
      if (kind_of(path) == FileKind::Missing) {
        continue;
      }
      const std::string target = canonical(path);
      if (target.empty()) {
        continue;
      }
      BAWN_TRY(check_target(place, path, target));
      if (!is_kept_by_permissions(place, target, kind_of(target) == FileKind::Directory)) {
        hide(place, target);
      }
    }
  }
  BAWN_TRY(find_own_secrets(place));
  drop_nested(place);
  return {};
}

void find_top_level(Place& place) {
  place.top_level = entries_of("/");
}

void find_siblings(Place& place) {
  std::vector<std::string> hidden = place.existing_secrets;
  hidden.emplace_back("/dev");
  // Of the kernel's own paths those of /sys can be left out as well. What is below /proc cannot:
  // the processes that come later have no sibling's rule.
  for (const std::string& path : place.masked_directories) {
    if (is_below(path, "/sys") && is_for_root_only(path)) {
      hidden.push_back(path);
    }
  }
  if (!place.session_dir.empty()) {
    hidden.push_back(session_store(place.session_dir));
  }
  collect(place, "/", hidden);
  // Of /dev, left out above as a whole, what a session reads in shared memory.
  std::erase(hidden, "/dev");
  std::vector<std::string> read = common_directories(place.writable_roots);
  read.push_back(place.workspace);
  for (const std::string& path : read) {
    if (is_within(path, "/dev/shm")) {
      collect(place, path, hidden);
    }
  }
}

}  // namespace bawn::sandbox
