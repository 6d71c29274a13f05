#include "bawn/sandbox/remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace bawn::sandbox {
namespace {

constexpr int kDeepest = 60;

int open_directory(int parent, const char* name) noexcept {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int fd = ::openat(parent, name, kFlags);
  if (fd >= 0) {
    return fd;
  }
  // A command may have taken its own permissions away. It is gone by now, so nothing swaps the
  // name.
  (void)::fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW);
  return ::openat(parent, name, kFlags);
}

class Remover {
 public:
  explicit Remover(int top) noexcept : top_(top) {}

  /// Empties the directory `fd`, which it takes; returns whether something was moved up to the top,
  /// where another round finds it.
  bool empty(int fd, int depth) noexcept {
    (void)::fchmod(fd, 0700);
    DIR* const stream = ::fdopendir(fd);
    if (stream == nullptr) {
      ::close(fd);
      return false;
    }
    bool moved = false;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != ".." && ::unlinkat(fd, entry->d_name, 0) != 0) {
        moved = remove_directory(fd, entry->d_name, depth) || moved;
      }
    }
    ::closedir(stream);
    return moved;
  }

 private:
  bool remove_directory(int parent, const char* name, int depth) noexcept {
    if (depth >= kDeepest) {
      char fresh[48];
      std::snprintf(fresh, sizeof fresh, "bawn-deep-%d", ++moved_);
      return ::renameat(parent, name, top_, fresh) == 0;
    }
    const int fd = open_directory(parent, name);
    const bool moved = fd >= 0 && empty(fd, depth + 1);
    (void)::unlinkat(parent, name, AT_REMOVEDIR);
    return moved;
  }

  int top_;
  int moved_ = 0;
};

}  // namespace

void remove_tree(const std::string& path) noexcept {
  const int top = open_directory(AT_FDCWD, path.c_str());
  if (top < 0) {
    return;
  }
  Remover remover(top);
  for (bool again = true; again;) {
    const int fd = ::openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    again = fd >= 0 && remover.empty(fd, 0);
  }
  ::close(top);
  (void)::rmdir(path.c_str());
}

}  // namespace bawn::sandbox
