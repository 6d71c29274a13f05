#include "directory_stream.hpp"
#include "git_directory.hpp"
#include "paths.hpp"
#include "survey.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string_view>

namespace bawn::sandbox {
namespace {

// Bounds of the search. It is on the way to every session: what lies beyond them is told instead.
constexpr int kMaxDepth = 4;
constexpr std::size_t kMaxDirectories = 2000;
constexpr std::size_t kMaxEntries = 50'000;
constexpr std::size_t kMaxRepositories = 64;
constexpr std::int64_t kMaxNs = 100'000'000;
constexpr std::size_t kMaxTold = 8;  ///< of one root; the root itself where there are more

/// Where tools put what they fetch or make: many directories, and tools must be able to remove
/// them.
constexpr std::array<std::string_view, 16> kSkipped = {
    "node_modules", "bower_components", "_deps",   ".venv",      "venv",    ".tox",
    "__pycache__",  "site-packages",    ".cache",  ".terraform", ".gradle", ".m2",
    ".npm",         ".cargo",           ".rustup", ".build"};

/// Of this thread's own time, so that what is protected does not hang on what else runs.
std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// A directory's entries as far as the search needs them.
struct Listing {
  std::vector<std::string> directories;
  bool has_git_directory = false;
  bool has_git_file = false;
  bool has_git_link = false;
  bool has_head = false;
  bool has_git_name = false;  ///< something that only a git directory has inside of another one
  std::size_t entries = 0;
  bool cut = false;  ///< there were more than were to be looked at
  dev_t device = 0;
};

FileKind kind_in(const dirent& entry, const std::string& directory) {
  switch (entry.d_type) {
    case DT_DIR:
      return FileKind::Directory;
    case DT_REG:
      return FileKind::Regular;
    case DT_LNK:
      return FileKind::Link;
    case DT_UNKNOWN:
      return kind_of(fmt::format("{}/{}", directory, entry.d_name));
    default:
      return FileKind::Other;
  }
}

/// Nothing when it cannot be listed or lies on another file system than `device`, which may not
/// answer.
std::optional<Listing> list(const std::string& path, std::optional<dev_t> device,
                            std::size_t most) {
  const DirectoryStream stream = open_stream(
      os::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
  struct stat status{};
  if (!stream || ::fstat(::dirfd(stream.get()), &status) != 0 ||
      status.st_dev != device.value_or(status.st_dev)) {
    return std::nullopt;
  }
  Listing listing;
  listing.device = status.st_dev;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") {
      continue;
    }
    if (listing.entries == most) {
      listing.cut = true;
      break;
    }
    ++listing.entries;
    listing.has_head = listing.has_head || name == "HEAD";
    listing.has_git_name = listing.has_git_name || name == "HEAD" || name == "config" ||
                           name == "hooks" || name == "commondir";
    const FileKind kind = kind_in(*entry, path);
    if (name == ".git") {
      listing.has_git_directory = kind == FileKind::Directory;
      listing.has_git_file = kind == FileKind::Regular;
      listing.has_git_link = kind == FileKind::Link;
    } else if (kind == FileKind::Directory && std::ranges::find(kSkipped, name) == kSkipped.end()) {
      listing.directories.emplace_back(name);
    }
  }
  std::ranges::sort(listing.directories);
  return listing;
}

/// Finds git directories, breadth first, and adds their names to the protected ones.
class Search {
 public:
  Search(Place& place, const std::vector<std::string>& names)
      : place_(place), names_(names), held_(place.existing_protected), until_(now_ns() + kMaxNs) {}

  void look_below(const std::string& root) {
    queue_.push_back({root, 0, false, {}});
    while (!queue_.empty()) {
      if (directories_ >= kMaxDirectories || entries_ >= kMaxEntries ||
          found_.size() >= kMaxRepositories || now_ns() > until_) {
        stop_short(root);
        return;
      }
      const Step step = std::move(queue_.front());
      queue_.pop_front();
      visit(step);
    }
  }

  /// `directory` is one: its names, and the repositories that git keeps in it.
  void add(const std::string& directory) {
    if (contains(found_, directory) || is_within_any(directory, place_.existing_secrets)) {
      return;
    }
    found_.push_back(directory);
    const bool worktree = is_worktree_directory(directory);
    for (const std::string& name : names_) {
      const std::string path = fmt::format("{}/{}", directory, name);
      // A linked worktree has the rest in its common directory, and nobody reads a `gitdir` that
      // was made elsewhere.
      const bool needed = worktree ? name == "config.worktree" : name != "gitdir";
      add_protected_path(place_, directory, path, needed);
    }
    queue_.push_back({directory + "/modules", 1, true, {}});
    queue_.push_back({directory + "/worktrees", kMaxDepth - 1, true, {}});
  }

 private:
  struct Step {
    std::string path;
    int depth;
    bool in_git;                  ///< below a git directory's modules or worktrees
    std::optional<dev_t> device;  ///< the file system to stay on
  };

  void visit(const Step& step) {
    const auto listing = list(step.path, step.device, kMaxEntries - entries_);
    if (!listing) {
      return;
    }
    ++directories_;
    entries_ += listing->entries;
    if (listing->cut) {
      tell(step.path);
    }
    // A session that moved HEAD away for a moment must not leave the next one without protection:
    // where the place tells, less is enough.
    if (step.in_git ? listing->has_git_name : listing->has_head && is_git_directory(step.path)) {
      add(step.path);
      return;
    }
    const std::string git = step.path + "/.git";
    if (listing->has_git_directory) {
      add(git);
    } else if (listing->has_git_file || listing->has_git_link) {
      add_protected_path(place_, step.path, git, true);
    }
    for (const std::string& name : listing->directories) {
      std::string path = fmt::format("{}/{}", step.path, name);
      if (step.depth < kMaxDepth && !is_within_any(path, place_.existing_secrets) &&
          !is_within_any(path, held_)) {
        queue_.push_back({std::move(path), step.depth + 1, step.in_git, listing->device});
      }
    }
  }

  /// What was not looked at is told.
  void stop_short(const std::string& root) {
    const bool many = queue_.size() > kMaxTold;
    if (many) {
      tell(root);
    }
    for (const Step& step : queue_) {
      if (!many || !is_within(step.path, root)) {
        tell(step.path);
      }
    }
    queue_.clear();
  }

  /// As a name that nothing holds.
  void tell(const std::string& directory) {
    place_.missing_protected.push_back(directory + "/**/.git");
  }

  Place& place_;
  const std::vector<std::string>& names_;
  std::vector<std::string> held_;  ///< read-only as a whole: nothing in them needs protection
  std::int64_t until_;
  std::deque<Step> queue_;
  std::vector<std::string> found_;
  std::size_t directories_ = 0;
  std::size_t entries_ = 0;
};

/// A root inside of a git directory: the names of that which lie below the root.
void protect_from_above(Place& place, const std::vector<std::string>& names,
                        const std::string& root) {
  for (std::string at = parent_of(root); at != "/"; at = parent_of(at)) {
    if (!is_git_directory(at)) {
      continue;
    }
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}", at, name);
      if (is_below(path, root)) {
        add_protected_path(place, root, path, true);
      }
    }
  }
}

/// Objects, refs and logs hold thousands of directories and no repository.
bool is_store(const std::string& root) {
  return is_git_directory(parent_of(root)) && !is_git_directory(root) &&
         !root.ends_with("/modules") && !root.ends_with("/worktrees");
}

}  // namespace

void find_repositories(Place& place, const Policy& policy) {
  const std::vector<std::string> names = names_in_git(policy.protected_names);
  if (names.empty()) {
    return;
  }
  Search search(place, names);
  for (const std::string& root : place.writable_roots) {
    // Not left to the search, which may end before.
    if (root.ends_with("/.git") || is_git_directory(root)) {
      search.add(root);
    }
  }
  for (const std::string& root : place.writable_roots) {
    if (kind_of(root) != FileKind::Directory) {
      continue;
    }
    protect_from_above(place, names, root);
    if (!is_store(root)) {
      search.look_below(root);
    }
  }
}

}  // namespace bawn::sandbox
