#include "bawn/sandbox/protected_watch.hpp"

#include "bawn/os/unique_fd.hpp"
#include "file_mark.hpp"
#include "paths.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace bawn::sandbox {
namespace {

/// File systems stamp with the tick of the clock, at worst 10 ms apart: a directory that changed
/// less than this before a look may change again without another stamp.
constexpr std::int64_t kTrustAfterNs = 20'000'000;

struct Name {
  std::string name;  ///< the last step
  std::string path;
  bool deep = false;  ///< compare what lies in it
  FileMark mark;
};

/// Names with one parent: while the parent is the same directory with the same stamp, none of them
/// came or went. The stamp is the change time, which no call can set.
struct Folder {
  std::string root;
  std::string below;  ///< relative to root; "." for the root itself
  FileMark mark;
  bool trusted = false;
  std::vector<Name> names;
};

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void compare(Name& name, int folder, std::vector<ProtectedChange>* changes) {
  const FileMark mark = folder < 0  ? FileMark()
                        : name.deep ? deep_mark_of(folder, name.name)
                                    : mark_of(folder, name.name);
  if (changes != nullptr && !(mark == name.mark)) {
    const auto kind = !name.mark.exists ? ProtectedChange::Kind::Appeared
                      : !mark.exists    ? ProtectedChange::Kind::Removed
                                        : ProtectedChange::Kind::Changed;
    changes->push_back({name.path, kind});
  }
  name.mark = mark;
}

/// Looks at one folder's names; without `changes` for the first time.
void visit(Folder& folder, int root, std::vector<ProtectedChange>* changes) {
  const os::UniqueFd fd = open_beneath(root, folder.below);
  const FileMark mark = fd.is_open() ? mark_of(fd.get(), "") : FileMark();
  const bool same = folder.trusted && mark == folder.mark;
  folder.mark = mark;
  folder.trusted = !mark.exists || now_ns() - mark.changed_ns > kTrustAfterNs;
  for (Name& name : folder.names) {
    if (!same || name.mark.exists) {
      compare(name, fd.get(), changes);
    }
  }
}

}  // namespace

struct ProtectedWatch::Impl {
  struct Root {
    std::string path;
    os::UniqueFd fd;
    std::vector<Folder> folders;
  };

  void add(const std::string& path, bool deep) {
    for (Root& root : roots) {
      if (!is_below(path, root.path)) {
        continue;
      }
      const std::string parent = parent_of(path);
      const std::string below = parent == root.path ? "." : parent.substr(root.path.size() + 1);
      auto folder = std::ranges::find(root.folders, below, &Folder::below);
      if (folder == root.folders.end()) {
        root.folders.push_back(
            {.root = root.path, .below = below, .mark = {}, .trusted = false, .names = {}});
        folder = std::prev(root.folders.end());
      }
      folder->names.push_back(
          {.name = path.substr(parent.size() + 1), .path = path, .deep = deep, .mark = {}});
      return;
    }
  }

  void visit_all(std::vector<ProtectedChange>* changes) {
    for (Root& root : roots) {
      for (Folder& folder : root.folders) {
        visit(folder, root.fd.get(), changes);
      }
    }
  }

  std::mutex mutex;
  std::vector<Root> roots;
};

std::string_view to_string(ProtectedChange::Kind kind) noexcept {
  switch (kind) {
    case ProtectedChange::Kind::Appeared:
      return "appeared";
    case ProtectedChange::Kind::Changed:
      return "changed";
    case ProtectedChange::Kind::Removed:
      return "removed";
  }
  return "changed";
}

std::shared_ptr<ProtectedWatch> ProtectedWatch::start(const Place& place, bool held) {
  auto impl = std::make_unique<Impl>();
  for (const std::string& path : place.writable_roots) {
    os::UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (fd.is_open()) {
      impl->roots.push_back({.path = path, .fd = std::move(fd), .folders = {}});
    }
  }
  for (const std::string& path : place.existing_protected) {
    impl->add(path, !held);
  }
  for (const std::string& path : place.missing_protected) {
    impl->add(path, true);
  }
  std::erase_if(impl->roots, [](const Impl::Root& root) { return root.folders.empty(); });
  if (impl->roots.empty()) {
    return nullptr;
  }
  impl->visit_all(nullptr);
  return std::shared_ptr<ProtectedWatch>(new ProtectedWatch(std::move(impl)));
}

ProtectedWatch::ProtectedWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProtectedWatch::~ProtectedWatch() = default;

std::vector<ProtectedChange> ProtectedWatch::look() {
  std::vector<ProtectedChange> changes;
  const std::lock_guard lock(impl_->mutex);
  impl_->visit_all(&changes);
  return changes;
}

}  // namespace bawn::sandbox
