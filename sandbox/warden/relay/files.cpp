// The sessions' directories: r/ holds what commands may read, w/ what they may write. Who may do
// what there is the server's word (modes) and the wall's.
#include "relay.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden::relay {

namespace {

constexpr std::size_t kMaxPath = 256;
constexpr int kMaxDepth = 8;

char made[kMaxSessions][kMaxPath];

int open_directory(int directory, const char* name) noexcept {
  return openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// Removes everything below an open directory, which it closes.
void empty_directory(int directory, int depth) noexcept {
  alignas(dirent64) char buffer[4096];
  long size = 0;
  while ((size = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      const char* const name = entry->d_name;
      if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(directory, name, 0) == 0) {
        continue;
      }
      int inner = depth < kMaxDepth ? open_directory(directory, name) : -1;
      // A command may have taken the rights off its own directory, or put a link in its place by
      // now.
      if (inner < 0 && errno == EACCES &&
          fchmodat(directory, name, 0700, AT_SYMLINK_NOFOLLOW) == 0) {
        inner = open_directory(directory, name);
      }
      if (inner >= 0) {
        (void)!fchmod(inner, 0700);
        empty_directory(inner, depth + 1);
      }
      (void)unlinkat(directory, name, AT_REMOVEDIR);
    }
  }
  close(directory);
}

void remove_whole(const char* path) noexcept {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) {
    empty_directory(fd, 0);
  }
  (void)rmdir(path);
}

char* find_made(const char* path) noexcept {
  for (char(&one)[kMaxPath] : made) {
    if (strcmp(one, path) == 0) {
      return one;
    }
  }
  return nullptr;
}

/// r/ or w/: neither can be listed. Where another user's commands use it, they come by the group,
/// and new files take that group.
bool make_side(const char* path, const char* side, bool foreign, gid_t gid) noexcept {
  char whole[kMaxPath + 4];
  snprintf(whole, sizeof whole, "%s/%s", path, side);
  return mkdir(whole, 0700) == 0 && (!foreign || chown(whole, static_cast<uid_t>(-1), gid) == 0) &&
         chmod(whole, foreign ? 02710 : 0300) == 0;
}

int open_fifo(const char* path, FifoKind kind, mode_t mode) noexcept {
  if (mkfifo(path, mode) != 0 || chmod(path, mode) != 0) {
    return -1;
  }
  // For reading and writing: then it never ends (Report), or nothing breaks while nobody reads
  // (Input). Output ends with its last writer.
  const int how = kind == FifoKind::Output ? O_RDONLY : O_RDWR;
  const int fd = open(path, how | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat found = {};
  if (fd >= 0 && (fstat(fd, &found) != 0 || !S_ISFIFO(found.st_mode))) {
    close(fd);
    errno = EPERM;  // a command put something else there
    return -1;
  }
  return fd;
}

bool write_all(int fd, const unsigned char* bytes, std::size_t size) noexcept {
  while (size > 0) {
    const ssize_t count = write(fd, bytes, size);
    if (count < 0 && errno != EINTR) {
      return false;
    }
    const std::size_t done = count > 0 ? static_cast<std::size_t>(count) : 0;
    bytes += done;
    size -= done;
  }
  return true;
}

}  // namespace

bool make_directory(std::uint32_t request, const unsigned char* payload,
                    std::size_t size) noexcept {
  wire::Reader in(payload, size);
  const uid_t uid = in.u32();
  const gid_t gid = in.u32();
  const char* const path = in.text();
  char* const place = find_made("");
  if (!in.finished() || place == nullptr || strlen(path) >= kMaxPath || path[0] != '/') {
    return tell_done(request, EINVAL);
  }
  const bool foreign = uid != geteuid();
  if (mkdir(path, 0700) != 0) {
    return tell_done(request, errno);
  }
  strcpy(place, path);
  const bool done = chmod(path, foreign ? 0711 : 0700) == 0 && make_side(path, "r", foreign, gid) &&
                    make_side(path, "w", foreign, gid);
  return tell_done(request, done ? 0 : errno, foreign ? 1 : 0);
}

bool write_file(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept {
  wire::Reader in(payload, size);
  const std::uint32_t flags = in.u32();
  const mode_t mode = in.u32();
  const char* const path = in.text();
  const std::size_t length = in.u32();
  const unsigned char* const bytes = in.bytes(length);
  if (!in.finished()) {
    return tell_done(request, EINVAL);
  }
  const int how = (flags & relay_wire::kAppend) != 0 ? O_APPEND : O_CREAT | O_EXCL;
  const int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | how, mode);
  if (fd < 0) {
    return tell_done(request, errno);
  }
  const bool done = write_all(fd, bytes, length);
  const int errnum = done ? 0 : errno;
  close(fd);
  return tell_done(request, errnum);
}

bool make_fifo(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept {
  wire::Reader in(payload, size);
  const std::uint32_t id = in.u32();
  const std::uint32_t session = in.u32();
  const auto kind = static_cast<FifoKind>(in.u32());
  const mode_t mode = in.u32();
  const char* const path = in.text();
  if (!in.finished()) {
    return tell_done(request, EINVAL);
  }
  const int fd = open_fifo(path, kind, mode);
  if (fd < 0) {
    return tell_done(request, errno);
  }
  const bool input = kind == FifoKind::Input;
  Stream* const stream = add_stream(id, session, fd, !input, input);
  if (stream == nullptr) {
    close(fd);
    return tell_done(request, EMFILE);
  }
  stream->fifo = kind == FifoKind::Output;
  stream->report = kind == FifoKind::Report;
  return tell_done(request, 0);
}

bool read_file(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept {
  static unsigned char bytes[relay_wire::kMaxPart];
  wire::Reader in(payload, size);
  const std::size_t most = in.u32();
  const char* const path = in.text();
  struct stat found = {};
  const int fd = in.finished() && most <= sizeof bytes
                     ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                     : -1;
  if (fd < 0 || fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
    const int errnum = fd < 0 ? ENOENT : EINVAL;
    close(fd);
    return tell_done(request, errnum);
  }
  std::size_t done = 0;
  ssize_t count = 0;
  while (done < most && (count = read(fd, bytes + done, most - done)) > 0) {
    done += static_cast<std::size_t>(count);
  }
  close(fd);
  const std::uint32_t head[2] = {
      0, static_cast<std::uint32_t>(found.st_size > 0xffffffffL ? 0xffffffffL : found.st_size)};
  return tell(Type::Done, request, head, sizeof head, bytes, done);
}

bool remove_file(const unsigned char* payload, std::size_t size) noexcept {
  wire::Reader in(payload, size);
  const char* const path = in.text();
  if (in.finished()) {
    (void)unlink(path);
  }
  return true;
}

bool remove_directory(const unsigned char* payload, std::size_t size) noexcept {
  wire::Reader in(payload, size);
  const char* const path = in.text();
  char* const place = in.finished() && path[0] != '\0' ? find_made(path) : nullptr;
  if (place != nullptr) {
    remove_whole(place);
    place[0] = '\0';
  }
  return true;
}

void remove_directories() noexcept {
  for (char(&one)[kMaxPath] : made) {
    if (one[0] != '\0') {
      remove_whole(one);
    }
  }
}

}  // namespace bawn::sandbox::warden::relay
