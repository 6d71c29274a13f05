#include "agent.hpp"

#include <stdio.h>
#include <string.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

/// As many as the kernel follows (path_resolution(7)).
constexpr int kMaxLinks = 40;

std::uint64_t nanoseconds(const timespec& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Splits the path into its directory ("/" at least) and its last name; false when that is none
/// that a file could have.
bool split(const char* path, char (&directory)[kMaxPath], char (&name)[kMaxName]) noexcept {
  std::size_t end = strlen(path);
  std::size_t start = end;
  while (start > 0 && path[start - 1] != '/') {
    --start;
  }
  const std::size_t length = end - start;
  if (length == 0 || strcmp(path + start, ".") == 0 || strcmp(path + start, "..") == 0) {
    errno = EISDIR;
    return false;
  }
  if (length >= sizeof name) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(name, path + start, length + 1);
  memcpy(directory, path, start);
  directory[start] = '\0';
  return true;
}

/// The path that the link at `place` leads to, in place of its own.
Problem follow(Place& place, const char* directory) noexcept {
  char text[kMaxPath];
  const ssize_t length = readlinkat(place.parent.get(), place.name, text, sizeof text - 1);
  if (length < 0) {
    return failed_call("readlinkat");
  }
  text[length] = '\0';
  char path[2 * kMaxPath];
  const int size = snprintf(path, sizeof path, "%s%s", text[0] == '/' ? "" : directory, text);
  if (size >= static_cast<int>(kMaxPath)) {
    return {ENAMETOOLONG, FailureKind::System, "readlinkat"};
  }
  memcpy(place.path, path, static_cast<std::size_t>(size) + 1);
  return {};
}

/// A name that is missing cannot be left by `..`, and it must not be made to try.
bool has_dots(const char* rest) noexcept {
  while (*rest != '\0') {
    const std::size_t size = strcspn(rest, "/");
    if ((size == 1 && rest[0] == '.') || (size == 2 && rest[0] == '.' && rest[1] == '.')) {
      return true;
    }
    rest += size;
    rest += strspn(rest, "/");
  }
  return false;
}

}  // namespace

void trim(const char* path, char (&trimmed)[kMaxPath]) noexcept {
  std::size_t length = strnlen(path, sizeof trimmed - 1);
  memmove(trimmed, path, length);
  while (length > 1 && trimmed[length - 1] == '/') {
    --length;
  }
  trimmed[length] = '\0';
}

Problem open_nearest(const char* path, Held& directory, const char*& rest) noexcept {
  char prefix[kMaxPath];
  snprintf(prefix, sizeof prefix, "%s", path);
  std::size_t length = strlen(prefix);
  directory.reset(open_path(prefix, O_PATH | O_DIRECTORY, Access::Write));
  while (!directory.is_open() && errno == ENOENT && length > 1) {
    while (length > 1 && prefix[length - 1] != '/') {
      --length;
    }
    while (length > 1 && prefix[length - 1] == '/') {
      --length;
    }
    prefix[length] = '\0';
    directory.reset(open_path(prefix, O_PATH | O_DIRECTORY, Access::Write));
  }
  if (!directory.is_open()) {
    return failed_open();
  }
  rest = path + length;
  rest += strspn(rest, "/");
  return has_dots(rest) ? Problem{ENOENT, FailureKind::System, "openat2"} : Problem{};
}

Problem failed_call(const char* call) noexcept {
  return {errno, FailureKind::System, call};
}

Problem look_again(Place& place) noexcept {
  place.present = fstatat(place.parent.get(), place.name, &place.status, AT_SYMLINK_NOFOLLOW) == 0;
  return place.present || errno == ENOENT ? Problem{} : failed_call("fstatat");
}

Problem find_place(const char* path, Last last, Place& place) noexcept {
  if (strlen(path) >= sizeof place.path) {
    return {ENAMETOOLONG, FailureKind::System, "openat2"};
  }
  strcpy(place.path, path);
  for (int links = 0; links <= kMaxLinks; ++links) {
    char directory[kMaxPath];
    if (!split(place.path, directory, place.name)) {
      const FailureKind kind = errno == EISDIR ? FailureKind::Directory : FailureKind::System;
      return {errno, kind, "openat2", file_wire::Type::Directory};
    }
    place.parent.reset(open_path(directory, O_PATH | O_DIRECTORY, Access::Write));
    if (!place.parent.is_open()) {
      return failed_open();
    }
    Problem problem = look_again(place);
    if (problem.failed() || !place.present || !S_ISLNK(place.status.st_mode) ||
        last == Last::Keep) {
      return problem;
    }
    problem = follow(place, directory);
    if (problem.failed()) {
      return problem;
    }
  }
  return {ELOOP, FailureKind::System, "openat2"};
}

void remove_directories(const char* path, std::uint32_t count) noexcept {
  char rest[kMaxPath];
  trim(path, rest);
  for (; count > 0; --count) {
    Place place;
    if (find_place(rest, Last::Keep, place).failed() ||
        unlinkat(place.parent.get(), place.name, AT_REMOVEDIR) != 0) {
      return;
    }
    *strrchr(rest, '/') = '\0';
    trim(rest, rest);
  }
}

int make_one(int parent, const char* name, DirectoryMode mode) noexcept {
  if (!mode.exact) {
    return mkdirat(parent, name, mode.mode);
  }
  // Not mkdirat(2) and fchmod(2): that one takes away the set-group-ID bit that a directory
  // inherits, and the filter refuses to set it.
  const mode_t mask = umask(0);
  const int made = mkdirat(parent, name, mode.mode);
  (void)umask(mask);
  return made;
}

Problem make_directories(const char* path, DirectoryMode mode, std::uint32_t& made) noexcept {
  // With a slash behind each name, `done` below holds one byte more than the path.
  char done[kMaxPath];
  if (strlen(path) + 2 > sizeof done) {
    return {ENAMETOOLONG, FailureKind::System, "mkdirat"};
  }
  Held directory;
  const char* rest = nullptr;
  Problem problem = open_nearest(path, directory, rest);
  if (problem.failed()) {
    return problem;
  }
  if (*rest != '\0') {
    problem = check_protected(directory.get(), rest, path, Reach::Below);
  }
  // One name at a time, and never through a link that appears meanwhile.
  std::size_t length = static_cast<std::size_t>(rest - path);
  memcpy(done, path, length);
  while (!problem.failed() && *rest != '\0') {
    const std::size_t size = strcspn(rest, "/");
    if (size >= kMaxName) {
      problem = {ENAMETOOLONG, FailureKind::System, "mkdirat"};
      break;
    }
    memcpy(done + length, rest, size);
    done[length + size] = '\0';
    const char* const name = done + length;
    rest += size;
    rest += strspn(rest, "/");
    if (make_one(directory.get(), name, *rest == '\0' ? mode : DirectoryMode{.mode = 0777}) == 0) {
      ++made;
    } else if (errno != EEXIST) {
      problem = failed_call("mkdirat");
      break;
    }
    directory.reset(openat(directory.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory.is_open()) {
      problem = failed_call("openat");
    }
    length += size;
    done[length++] = '/';
  }
  if (problem.failed() && made > 0) {
    done[length] = '\0';
    remove_directories(done, made);
    made = 0;
  }
  return problem;
}

Problem find_name(const char* path, Reach reach, Place& place) noexcept {
  char trimmed[kMaxPath];
  trim(path, trimmed);
  const Problem problem = find_place(trimmed, Last::Keep, place);
  return problem.failed() ? problem
                          : check_protected(place.parent.get(), place.name, trimmed, reach);
}

void put_target(Packer& out, const Place& place) noexcept {
  char path[kMaxPath + kMaxName + 1];
  char directory[kMaxPath];
  if (!name_directory(place.parent.get(), directory)) {
    out.text(place.path, strlen(place.path));
    return;
  }
  std::size_t length = strcmp(directory, "/") == 0 ? 0 : strlen(directory);
  memcpy(path, directory, length);
  path[length++] = '/';
  strcpy(path + length, place.name);
  out.text(path, strlen(path));
}

bool sync_directory(int directory) noexcept {
  const Held readable(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return readable.is_open() && fsync(readable.get()) == 0;
}

file_wire::Type type_of(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return file_wire::Type::Regular;
    case S_IFDIR:
      return file_wire::Type::Directory;
    case S_IFLNK:
      return file_wire::Type::Symlink;
    case S_IFIFO:
      return file_wire::Type::Fifo;
    case S_IFSOCK:
      return file_wire::Type::Socket;
    case S_IFCHR:
      return file_wire::Type::CharacterDevice;
    case S_IFBLK:
      return file_wire::Type::BlockDevice;
    default:
      return file_wire::Type::Unknown;
  }
}

Problem require_regular(const struct stat& status) noexcept {
  const file_wire::Type type = type_of(status.st_mode);
  if (type == file_wire::Type::Regular) {
    return {};
  }
  const bool directory = type == file_wire::Type::Directory;
  return {directory ? EISDIR : EINVAL, directory ? FailureKind::Directory : FailureKind::NotRegular,
          "", type};
}

Condition read_condition(wire::Reader& in) noexcept {
  Condition condition;
  condition.kind = static_cast<file_wire::ConditionKind>(in.u32());
  if (condition.kind == file_wire::ConditionKind::Same ||
      condition.kind == file_wire::ConditionKind::SameContent) {
    for (int skipped = 0; skipped < 4; ++skipped) {
      (void)in.u32();  // type, mode, uid, gid: ctime tells when they change
    }
    condition.size = in.u64();
    condition.mtime_ns = in.u64();
    condition.ctime_ns = in.u64();
    condition.device = in.u64();
    condition.inode = in.u64();
    (void)in.u64();
  }
  return condition;
}

Problem check_condition(const Condition& condition, const Place& place) noexcept {
  if (condition.kind == file_wire::ConditionKind::Absent) {
    return place.present ? Problem{EEXIST, FailureKind::Exists, ""} : Problem{};
  }
  if (condition.kind == file_wire::ConditionKind::None) {
    return {};
  }
  const bool with_attributes = condition.kind == file_wire::ConditionKind::Same;
  const struct stat& now = place.status;
  const bool same = place.present && now.st_dev == condition.device &&
                    now.st_ino == condition.inode &&
                    static_cast<std::uint64_t>(now.st_size) == condition.size &&
                    nanoseconds(now.st_mtim) == condition.mtime_ns &&
                    (!with_attributes || nanoseconds(now.st_ctim) == condition.ctime_ns);
  return same ? Problem{} : Problem{ESTALE, FailureKind::Changed, ""};
}

void put_status(Packer& out, const struct stat& status) noexcept {
  out.u32(static_cast<std::uint32_t>(type_of(status.st_mode)));
  out.u32(status.st_mode & 07777U);
  out.u32(status.st_uid);
  out.u32(status.st_gid);
  out.u64(static_cast<std::uint64_t>(status.st_size));
  out.u64(nanoseconds(status.st_mtim));
  out.u64(nanoseconds(status.st_ctim));
  out.u64(status.st_dev);
  out.u64(status.st_ino);
  out.u64(status.st_nlink);
}

}  // namespace bawn::sandbox::warden::agent
