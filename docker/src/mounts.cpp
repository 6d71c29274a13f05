#include "mounts.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace bawn::container {
namespace {

/// The path below `root`; "." for root itself; the path as it is when it lies elsewhere.
std::string below(const std::string& path, const std::string& root) {
  if (path == root) {
    return ".";
  }
  return path.starts_with(root + "/") ? path.substr(root.size() + 1) : path;
}

std::string path_of(const os::UniqueFd& file) {
  std::array<char, PATH_MAX> path;
  const ssize_t length =
      ::readlink(fmt::format("/proc/self/fd/{}", file.get()).c_str(), path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

Result<HeldMount> hold(const Mount& mount, const os::UniqueFd& root, const std::string& workspace) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  HeldMount held{.source = {}, .target = mount.target, .read_only = mount.read_only, .held = {}};
  const std::string relative = below(mount.source, workspace);
  held.held.reset(
      static_cast<int>(::syscall(SYS_openat2, root.get(), relative.c_str(), &how, sizeof how)));
  const int errnum = errno;
  if (!held.held.is_open() && errnum == EXDEV) {
    return contract::fail(
        ErrorCode::PermissionDenied,
        fmt::format("{} does not lie in the workspace {}, and only what does can be mounted",
                    contract::quote(mount.source), workspace));
  }
  struct stat found{};
  if (!held.held.is_open() || ::fstat(held.held.get(), &found) != 0) {
    return std::unexpected(Error::from_errno(
        errnum, "openat2", fmt::format("the mount source {}", contract::quote(mount.source))));
  }
  if (!S_ISDIR(found.st_mode) && !S_ISREG(found.st_mode)) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("the mount source {} is neither a directory nor a file",
                                      contract::quote(mount.source)));
  }
  held.source = path_of(held.held);
  return held;
}

/// What the process `pid` sees as "/".
os::UniqueFd root_of(int pid) {
  return os::UniqueFd(
      ::open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

os::UniqueFd open_in(const os::UniqueFd& root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return os::UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
}

}  // namespace

Result<std::vector<HeldMount>> hold_mounts(const std::vector<Mount>& mounts,
                                           const std::string& workspace) {
  const os::UniqueFd root(::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) {
    return std::unexpected(Error::from_errno(errno, "open", "the workspace " + workspace));
  }
  std::vector<HeldMount> held;
  for (const Mount& mount : mounts) {
    held.push_back(BAWN_TRY(hold(mount, root, workspace)));
  }
  return held;
}

void share_temporary(const std::vector<std::string>& targets, int pid) noexcept {
  const os::UniqueFd root = root_of(pid);
  for (const std::string& target : targets) {
    const os::UniqueFd there = open_in(root, target);
    struct statfs found{};
    if (there.is_open() && ::fstatfs(there.get(), &found) == 0 && found.f_type == TMPFS_MAGIC) {
      (void)::chmod(fmt::format("/proc/self/fd/{}", there.get()).c_str(), 01777);
    }
  }
}

Result<> check_mounted(const std::vector<HeldMount>& mounts, int pid) {
  const os::UniqueFd root = root_of(pid);
  if (!root.is_open()) {
    return std::unexpected(
        Error::from_errno(errno, "open", "cannot look at what the engine mounted"));
  }
  for (const HeldMount& mount : mounts) {
    const os::UniqueFd there = open_in(root, mount.target);
    struct stat wanted{};
    struct stat found{};
    if (!there.is_open() || ::fstat(there.get(), &found) != 0 ||
        ::fstat(mount.held.get(), &wanted) != 0 || found.st_dev != wanted.st_dev ||
        found.st_ino != wanted.st_ino) {
      return contract::fail(
          ErrorCode::PermissionDenied,
          fmt::format("{} was replaced while the container started; nothing was run in it",
                      contract::quote(mount.source)));
    }
  }
  return {};
}

}  // namespace bawn::container
