#include "directories.hpp"

#include "changes.hpp"
#include "journal.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace bawn::files {

namespace {

std::optional<sandbox::FileStatus> directory_at(const contract::Context& context,
                                                const Place& place, const std::string& path) {
  const auto status = place.files->status(context, path, sandbox::FileAgent::Links::Keep);
  return status && status->type == sandbox::FileType::Directory ? std::optional(*status)
                                                                : std::nullopt;
}

}  // namespace

std::vector<GoneDirectory> drop_emptied(const contract::Context& context, const Place& place,
                                        const std::vector<FileChange>& changes) {
  std::set<std::string> candidates;
  for (const FileChange& change : changes) {
    std::string directory = directory_of(change.from.value_or(change.path));
    for (int i = 0; i < change.drop_parents; ++i) {
      candidates.insert(directory);
      directory = directory_of(directory);
    }
  }
  // By name a directory stands before those in it; they have to go first.
  std::vector<GoneDirectory> gone;
  for (auto path = candidates.rbegin(); path != candidates.rend(); ++path) {
    const auto status = directory_at(context, place, *path);
    if (status && place.files->remove_directory(context, *path)) {
      gone.push_back({*path, *status});
    }
  }
  std::ranges::reverse(gone);
  return gone;
}

Result<int> make_again(const contract::Context& context, const Place& place,
                       const GoneDirectory& directory) {
  return place.files->make_directory(
      context, directory.path,
      {.mode = directory.status.mode & 07777U, .parents = true, .exact = true});
}

bool came_back_changed(const contract::Context& context, const Place& place,
                       const GoneDirectory& directory) {
  const auto now = directory_at(context, place, directory.path);
  const sandbox::FileStatus& old = directory.status;
  return now && (now->uid != old.uid || now->gid != old.gid || now->mode != old.mode);
}

}  // namespace bawn::files
