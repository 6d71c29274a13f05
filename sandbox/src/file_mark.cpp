#include "file_mark.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace bawn::sandbox {
namespace {

constexpr int kMaxDepth = 3;
constexpr int kMaxEntries = 256;

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x100000001b3ULL;
}

void mix(std::uint64_t& hash, const FileMark& mark) {
  mix(hash, mark.inode);
  mix(hash, mark.mode);
  mix(hash, mark.size);
  mix(hash, static_cast<std::uint64_t>(mark.changed_ns));
}

/// Sorted, since a directory's order may change without a change of content.
std::vector<std::string> names_in(DIR* directory, int limit) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && static_cast<int>(names.size()) < limit) {
      names.emplace_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

void mix_directory(std::uint64_t& hash, int folder, const std::string& name, int depth, int& left) {
  os::UniqueFd fd(
      ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.is_open()) {
    return;
  }
  const std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(fd.get()));
  if (!stream) {
    return;
  }
  const int own = fd.release();
  for (const std::string& entry : names_in(stream.get(), left)) {
    const FileMark mark = mark_of(own, entry);
    mix(hash, std::hash<std::string>{}(entry));
    mix(hash, mark);
    --left;
    if (S_ISDIR(mark.mode) && depth < kMaxDepth) {
      mix_directory(hash, own, entry, depth + 1, left);
    }
  }
}

}  // namespace

os::UniqueFd open_beneath(int root, const std::string& path) noexcept {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return os::UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

FileMark mark_of(int folder, const std::string& name) noexcept {
  FileMark mark;
  struct stat status{};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0) {
    return mark;
  }
  mark.exists = true;
  mark.device = status.st_dev;
  mark.inode = status.st_ino;
  mark.mode = status.st_mode;
  mark.size = static_cast<std::uint64_t>(status.st_size);
  mark.changed_ns = status.st_ctim.tv_sec * 1'000'000'000LL + status.st_ctim.tv_nsec;
  return mark;
}

FileMark deep_mark_of(int folder, const std::string& name) {
  FileMark mark = mark_of(folder, name);
  if (S_ISDIR(mark.mode)) {
    int left = kMaxEntries;
    mix_directory(mark.content, folder, name, 0, left);
  }
  return mark;
}

}  // namespace bawn::sandbox
