// The mount namespace, step by step as planned. Binds are made detached (open_tree), given their
// attributes, and only then attached, so that no path is ever reachable with more than it may have.
#include "warden.hpp"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

using wire::MountKind;

// linux/mount.h (5.2 and 5.12) and glibc 2.36's sys/mount.h cannot be included together.
struct Attributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  std::uint64_t propagation = 0;
  std::uint64_t user_namespace = 0;
};
constexpr std::uint64_t kReadOnly = 0x1;
constexpr std::uint64_t kNoSuid = 0x2;
constexpr std::uint64_t kNoDev = 0x4;
constexpr unsigned kTreeClone = 0x1;
constexpr unsigned kRecursive = 0x8000;
constexpr unsigned kMoveEmptyPath = 0x4;

struct Entry {
  MountKind kind;
  bool optional;
  const char* source;
  const char* target;
  const char* data;
};

/// Trees held for a later BindHeld, by the number in HoldPath's target.
constexpr int kMaxHeld = 64;
int held[kMaxHeld];

int result_of(long value) noexcept {
  return value < 0 ? errno : 0;
}

int clone_tree(const char* path) noexcept {
  return static_cast<int>(
      syscall(SYS_open_tree, AT_FDCWD, path, kTreeClone | kRecursive | O_CLOEXEC));
}

int set_attributes(int tree, const char* path, Attributes attributes, bool recursive) noexcept {
  const unsigned flags =
      (path[0] == '\0' ? static_cast<unsigned>(AT_EMPTY_PATH) : 0U) | (recursive ? kRecursive : 0U);
  return result_of(syscall(SYS_mount_setattr, tree, path, flags, &attributes, sizeof attributes));
}

int attach(int tree, const char* target) noexcept {
  return result_of(syscall(SYS_move_mount, tree, "", AT_FDCWD, target, kMoveEmptyPath));
}

/// In a user namespace the kernel locks the flags that the host gave a mount (mount_namespaces(7)):
/// what the host mounts read-only stays so, and the writable bind is then no wider than the host.
int open_up(int tree) noexcept {
  const int errnum = set_attributes(tree, "", {kNoSuid | kNoDev, kReadOnly, 0, 0}, true);
  return errnum == EPERM ? set_attributes(tree, "", {kNoSuid | kNoDev, 0, 0, 0}, true) : errnum;
}

int bind(const Entry& entry, bool writable) noexcept {
  const int tree = clone_tree(entry.source);
  if (tree < 0) {
    return errno;
  }
  int errnum =
      writable ? open_up(tree) : set_attributes(tree, "", {kReadOnly | kNoSuid, 0, 0, 0}, true);
  errnum = errnum != 0 ? errnum : attach(tree, entry.target);
  close(tree);
  return errnum;
}

int make_directories(const char* path) noexcept {
  char partial[4096];
  const std::size_t length = strlen(path);
  if (length >= sizeof partial) {
    return ENAMETOOLONG;
  }
  for (std::size_t at = 1; at <= length; ++at) {
    if (path[at] == '/' || path[at] == '\0') {
      memcpy(partial, path, at);
      partial[at] = '\0';
      if (mkdir(partial, 0755) != 0 && errno != EEXIST) {
        return errno;
      }
    }
  }
  return 0;
}

int write_text(const char* path, const char* text) noexcept {
  const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return errno;
  }
  const int errnum = result_of(write(fd, text, strlen(text)));
  close(fd);
  return errnum;
}

int make_file(const char* path) noexcept {
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) {
    return errno;
  }
  close(fd);
  return 0;
}

/// The first mask of a kind, open by its own mount: the others are clones of it, which keep its
/// attributes. One file system is made and taken down instead of a dozen; and by descriptor, since
/// a later mount may hide the path.
struct FirstMask {
  int fd = -1;

  void remember(const char* target) noexcept { fd = open(target, O_PATH | O_CLOEXEC); }
  void forget() noexcept {
    if (fd >= 0) {
      close(fd);
    }
    fd = -1;
  }
  int clone_onto(const char* target) const noexcept {
    const int tree = static_cast<int>(syscall(
        SYS_open_tree, fd, "",
        kTreeClone | static_cast<unsigned>(O_CLOEXEC) | static_cast<unsigned>(AT_EMPTY_PATH)));
    if (tree < 0) {
      return errno;
    }
    const int errnum = attach(tree, target);
    close(tree);
    return errnum;
  }
};
FirstMask directory_mask;
FirstMask null_mask;  ///< of files where the session has no empty file of its own

int mask_file(const Entry& entry) noexcept {
  if (entry.source[0] == '\0' && null_mask.fd >= 0) {
    return null_mask.clone_onto(entry.target);
  }
  const int tree = static_cast<int>(syscall(SYS_open_tree, AT_FDCWD,
                                            entry.source[0] != '\0' ? entry.source : "/dev/null",
                                            kTreeClone | O_CLOEXEC));
  if (tree < 0) {
    return errno;
  }
  // Without devices: opening the mask fails with EACCES instead of reading as an empty file.
  int errnum = set_attributes(tree, "", {kReadOnly | kNoSuid | kNoDev, 0, 0, 0}, false);
  errnum = errnum != 0 ? errnum : attach(tree, entry.target);
  close(tree);
  if (errnum == 0 && entry.source[0] == '\0') {
    null_mask.remember(entry.target);
  }
  return errnum;
}

int mask_directory(const char* target) noexcept {
  if (directory_mask.fd >= 0) {
    return directory_mask.clone_onto(target);
  }
  const int errnum =
      result_of(mount("tmpfs", target, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
                      "size=4k,nr_inodes=2,mode=000"));
  if (errnum == 0) {
    directory_mask.remember(target);
  }
  return errnum;
}

constexpr const char* kDevices[] = {"null", "zero", "full", "random", "urandom", "tty"};
constexpr int kDeviceCount = sizeof kDevices / sizeof kDevices[0];

int populate_devices(const int (&trees)[kDeviceCount]) noexcept {
  if (mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k") != 0) {
    return errno;
  }
  for (int at = 0; at < kDeviceCount; ++at) {
    char path[32];
    snprintf(path, sizeof path, "/dev/%s", kDevices[at]);
    int errnum = trees[at] < 0 ? 0 : make_file(path);
    errnum = errnum != 0 || trees[at] < 0 ? errnum : attach(trees[at], path);
    if (errnum != 0) {
      return errnum;
    }
  }
  static constexpr const char* kLinks[][2] = {
      {"pts/ptmx", "/dev/ptmx"},          {"/proc/self/fd", "/dev/fd"},
      {"/proc/self/fd/0", "/dev/stdin"},  {"/proc/self/fd/1", "/dev/stdout"},
      {"/proc/self/fd/2", "/dev/stderr"},
  };
  for (const auto& link : kLinks) {
    if (symlink(link[0], link[1]) != 0) {
      return errno;
    }
  }
  if (mkdir("/dev/pts", 0755) != 0 || mkdir("/dev/shm", 01777) != 0 ||
      mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
            "newinstance,ptmxmode=0666,mode=620") != 0) {
    return errno;
  }
  return 0;
}

/// `data` is the option string of the tmpfs on /dev/shm.
int private_devices(const char* shm_options) noexcept {
  int trees[kDeviceCount];
  for (int at = 0; at < kDeviceCount; ++at) {
    char path[32];
    snprintf(path, sizeof path, "/dev/%s", kDevices[at]);
    trees[at] = static_cast<int>(
        syscall(SYS_open_tree, AT_FDCWD, path, kTreeClone | static_cast<unsigned>(O_CLOEXEC)));
  }
  int errnum = trees[0] < 0 ? ENODEV : populate_devices(trees);
  for (const int tree : trees) {
    close(tree);
  }
  if (errnum == 0) {
    errnum = result_of(mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV,
                             shm_options[0] != '\0' ? shm_options : "mode=1777"));
  }
  return errnum != 0 ? errnum : set_attributes(AT_FDCWD, "/dev", {kReadOnly, 0, 0, 0}, false);
}

/// A number in the plan's words; -1 when it is none or too large.
int held_number(const char* text) noexcept {
  char* end = nullptr;
  const long number = strtol(text, &end, 10);
  return end != text && *end == '\0' && number >= 0 && number < kMaxHeld ? static_cast<int>(number)
                                                                         : -1;
}

int hold(const Entry& entry) noexcept {
  const int number = held_number(entry.target);
  if (number < 0) {
    return EINVAL;
  }
  held[number] = clone_tree(entry.source);
  return result_of(held[number]);
}

/// A mount point of the same kind as what is held.
int make_mount_point(int tree, const char* path) noexcept {
  struct stat status;
  if (fstat(tree, &status) != 0) {
    return errno;
  }
  if (S_ISDIR(status.st_mode)) {
    return make_directories(path);
  }
  char parent[4096];
  const char* const slash = strrchr(path, '/');
  const std::size_t length = slash != nullptr ? static_cast<std::size_t>(slash - path) : 0;
  if (length >= sizeof parent) {
    return ENAMETOOLONG;
  }
  memcpy(parent, path, length);
  parent[length] = '\0';
  const int errnum = make_directories(parent);
  return errnum != 0 ? errnum : make_file(path);
}

int bind_held(const Entry& entry) noexcept {
  const int number = held_number(entry.source);
  if (number < 0 || held[number] <= 0) {
    return EINVAL;
  }
  const int errnum = make_mount_point(held[number], entry.target);
  return errnum != 0 ? errnum : attach(held[number], entry.target);
}

int perform(const Entry& entry) noexcept {
  switch (entry.kind) {
    case MountKind::MakePrivate:
      return result_of(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
    case MountKind::BindReadOnly:
      return bind(entry, false);
    case MountKind::BindWritable:
      return bind(entry, true);
    case MountKind::RemountReadOnly:
      return set_attributes(AT_FDCWD, entry.target, {kReadOnly | kNoSuid, 0, 0, 0}, true);
    case MountKind::Tmpfs:
      return result_of(mount("tmpfs", entry.target, "tmpfs", MS_NOSUID | MS_NODEV, entry.data));
    case MountKind::MaskDirectory:
      return mask_directory(entry.target);
    case MountKind::MaskFile:
      return mask_file(entry);
    case MountKind::Proc:
      return result_of(mount("proc", entry.target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                             entry.data[0] != '\0' ? entry.data : nullptr));
    case MountKind::Devices:
      return private_devices(entry.data);
    case MountKind::MakeDirectory:
      return make_directories(entry.target);
    case MountKind::WriteFile:
      return write_text(entry.target, entry.data);
    case MountKind::HoldPath:
      return hold(entry);
    case MountKind::BindHeld:
      return bind_held(entry);
    case MountKind::Chdir:
      return result_of(chdir(entry.target));
    case MountKind::MakeSymlink:
      return result_of(symlink(entry.source, entry.target));
  }
  return EINVAL;
}

/// Steps that take something away: where it is not there, nothing is missing.
bool narrows(MountKind kind) noexcept {
  return kind == MountKind::BindReadOnly || kind == MountKind::MaskDirectory ||
         kind == MountKind::MaskFile;
}

}  // namespace

Failure apply_mounts(const PlanView& plan, Confirmed& confirmed) noexcept {
  if ((plan.clone_flags & CLONE_NEWNS) == 0) {
    return {};
  }
  const mode_t mask = umask(0);
  wire::Reader steps = plan.mounts;
  for (std::uint32_t at = 0; at < plan.mount_count; ++at) {
    Entry entry;
    entry.kind = static_cast<MountKind>(steps.u32());
    entry.optional = steps.u32() != 0;
    entry.source = steps.text();
    entry.target = steps.text();
    entry.data = steps.text();
    const int errnum = perform(entry);
    if (errnum != 0 && !entry.optional) {
      return {Step::Mount, errnum, at};
    }
    if (errnum != 0 && !(errnum == ENOENT && narrows(entry.kind))) {
      confirmed.add_missing(Step::Mount, errnum, at);
    }
  }
  for (int& tree : held) {
    if (tree > 0) {
      close(tree);
      tree = 0;
    }
  }
  directory_mask.forget();
  null_mask.forget();
  umask(mask);
  return {};
}

}  // namespace bawn::sandbox::warden
