#include "bawn/sandbox/own_state.hpp"
#include "git_directory.hpp"
#include "paths.hpp"
#include "survey.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::sandbox {
namespace {

/// What nobody opens because a file in a working tree says so.
bool must_stay_closed(const Place& place, const std::string& directory) {
  const auto overlaps = [&](const std::string& path) {
    return !path.empty() && (is_within(path, directory) || is_within(directory, path));
  };
  return directory == "/" || belongs_to_kernel(directory) || is_within(directory, "/run") ||
         overlaps(place.session_dir) || std::ranges::any_of(own_secrets(), overlaps) ||
         std::ranges::any_of(place.existing_secrets, overlaps);
}

/// What git writes there for a commit. The top of a common directory is left out: whoever may make
/// a file there can make `commondir`, and with it bring a configuration of his own to the main
/// repository, which nobody named as writable.
std::vector<std::string> parts_of(const GitLink& link) {
  if (link.directory == link.common) {
    return {link.directory};
  }
  std::vector<std::string> parts = {link.directory};
  for (const char* name : {"objects", "refs", "logs", "reftable", "lfs"}) {
    const std::string part = fmt::format("{}/{}", link.common, name);
    if (kind_of(part) == FileKind::Directory) {
      parts.push_back(part);
    }
  }
  return parts;
}

/// A root that lies in what would be opened: then other working trees may lie in it as well.
bool holds_a_root(const Place& place, const std::string& part) {
  return is_within(place.workspace, part) ||
         std::ranges::any_of(place.writable_roots,
                             [&](const std::string& root) { return is_within(root, part); });
}

void open_for(Place& place, const std::string& root) {
  const auto link = follow_git_file(root);
  if (!link || !link->leads_back || must_stay_closed(place, link->directory) ||
      must_stay_closed(place, link->common)) {
    return;
  }
  std::vector<std::string> parts = parts_of(*link);
  if (std::ranges::any_of(parts, [&](const auto& part) { return holds_a_root(place, part); })) {
    return;
  }
  for (std::string& part : parts) {
    if (!is_within_any(part, place.writable_roots)) {
      place.writable_roots.push_back(std::move(part));
    }
  }
}

}  // namespace

void open_git_directories(Place& place) {
  const std::vector<std::string> roots = place.writable_roots;
  for (const std::string& root : roots) {
    open_for(place, root);
  }
}

}  // namespace bawn::sandbox
