#include "bawn/sandbox/own_state.hpp"
#include "directory_stream.hpp"
#include "paths.hpp"
#include "survey.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::sandbox {
namespace {

/// As many entries of one directory as are looked at.
constexpr std::size_t kMaxEntries = 1024;

/// Where the links in `directory` lead.
std::vector<std::string> targets_in(const std::string& directory) {
  std::vector<std::string> targets;
  const DirectoryStream stream(::opendir(directory.c_str()));
  std::size_t seen = 0;
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
    if (++seen > kMaxEntries) {
      break;
    }
    const std::string path = directory + "/" + static_cast<const char*>(entry->d_name);
    if (entry->d_type == DT_LNK ||
        (entry->d_type == DT_UNKNOWN && kind_of(path) == FileKind::Link)) {
      targets.push_back(canonical(path));
    }
  }
  return targets;
}

/// A user's own file, and none that programs of all users read.
bool can_be_hidden(const Place& place, const std::string& target) {
  return !target.empty() && kind_of(target) == FileKind::Regular && parent_of(target) != "/" &&
         !is_within_any(target, {"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
                                 "/nix", "/gnu"}) &&
         !belongs_to_kernel(target) && !is_within_any(target, place.existing_secrets) &&
         (place.caller_uid == 0 || ::access(target.c_str(), R_OK) == 0);
}

bool is_own_secret(const std::string& directory) {
  return std::ranges::any_of(own_secrets(),
                             [&](const std::string& own) { return canonical(own) == directory; });
}

}  // namespace

Way follow(const std::string& path) {
  constexpr std::size_t kMost = 40;  // as path_resolution(7) has it
  Way way;
  std::string at;  // "" is "/"
  std::string rest = path;
  while (!rest.empty()) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, slash);
    rest.erase(0, slash + 1);
    if (name.empty() || name == ".") {
      continue;
    }
    if (name == "..") {
      if (!at.empty() && kind_of(at) != FileKind::Directory) {
        return way;
      }
      at.erase(std::min(at.rfind('/'), at.size()));
      continue;
    }
    const std::string next = at + "/" + name;
    char target[PATH_MAX];
    const ssize_t size = ::readlink(next.c_str(), target, sizeof target);
    if (size < 0 && errno == EINVAL) {  // no link
      at = next;
      continue;
    }
    if (size < 0 || way.links.size() == kMost) {
      return way;
    }
    way.links.push_back(next);
    rest = std::string(target, static_cast<std::size_t>(size)) + "/" + rest;
    if (rest.starts_with('/')) {
      at.clear();
    }
  }
  way.end = at.empty() ? "/" : at;
  return way;
}

void find_linked_secrets(Place& place) {
  const std::vector<std::string> directories = place.secret_directories;
  for (const std::string& directory : directories) {
    if (is_own_secret(directory)) {
      continue;
    }
    for (std::string& target : targets_in(directory)) {
      if (can_be_hidden(place, target)) {
        place.existing_secrets.push_back(std::move(target));
      }
    }
  }
  std::ranges::sort(place.existing_secrets);
}

}  // namespace bawn::sandbox
