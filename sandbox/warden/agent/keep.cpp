#include "agent.hpp"

#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

struct Root {
  int fd;
  const char* path;
  std::size_t length;
  bool writable;
};
constexpr std::uint32_t kMaxRoots = 64;
Root roots[kMaxRoots];
std::uint32_t root_count = 0;
std::uint32_t flags = 0;
std::uint32_t protected_count = 0;
wire::Reader protected_paths;
mode_t mask = 022;

/// A rename on the way can make the kernel give up on `..` (EAGAIN); it says to try again.
constexpr int kMaxTries = 64;

int open_at(int directory, const char* path, int open_flags, std::uint64_t resolve) noexcept {
  open_how how = {};
  how.flags = static_cast<unsigned>(open_flags | O_CLOEXEC);
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0;; ++tries) {
    const auto fd = static_cast<int>(syscall(SYS_openat2, directory, path, &how, sizeof how));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR) || tries == kMaxTries) {
      return fd;
    }
  }
}

/// The innermost root that the path's text begins with, or null.
const Root* find_root(const char* path) noexcept {
  const Root* found = nullptr;
  for (std::uint32_t at = 0; at < root_count; ++at) {
    const Root& root = roots[at];
    const bool begins = strncmp(path, root.path, root.length) == 0 &&
                        (path[root.length] == '/' || path[root.length] == '\0');
    if (begins && (found == nullptr || root.length > found->length)) {
      found = &root;
    }
  }
  return found;
}

bool is_held(Access access) noexcept {
  return (flags & file_wire::kHoldPaths) != 0 ||
         (access == Access::Attributes && (flags & file_wire::kHoldAttributes) != 0);
}

/// `whole` is `part` or lies below it. Letters count alike in both cases, as on file systems that
/// fold them.
bool covers(const char* part, const char* whole) noexcept {
  const std::size_t length = strlen(part);
  return strncasecmp(part, whole, length) == 0 && (whole[length] == '/' || whole[length] == '\0');
}

}  // namespace

bool keep_to(const unsigned char* order, std::size_t length) noexcept {
  mask = umask(0);
  (void)umask(mask);
  wire::Reader in(order, length);
  flags = in.u32();
  const std::uint32_t count = in.count(12);
  for (std::uint32_t at = 0; at < count; ++at) {
    const bool writable = in.u32() != 0;
    const char* const path = in.text();
    if ((flags & (file_wire::kHoldPaths | file_wire::kHoldAttributes)) == 0 ||
        root_count == kMaxRoots) {
      continue;
    }
    // The plan's roots are canonical: a link is one that was put there since.
    const int fd = open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    const std::size_t size = strcmp(path, "/") == 0 ? 0 : strlen(path);
    if (fd >= 0) {
      roots[root_count++] = {fd, path, size, writable};
    }
  }
  protected_count = in.count(8);
  protected_paths = in;
  for (std::uint32_t at = 0; at < protected_count; ++at) {
    (void)in.text();
  }
  return in.finished();
}

bool is_carried() noexcept {
  return (flags & file_wire::kCarried) != 0;
}

mode_t session_umask() noexcept {
  return mask;
}

int open_path(const char* path, int open_flags, Access access) noexcept {
  if (!is_held(access)) {
    return open_at(AT_FDCWD, path, open_flags, 0);
  }
  const Root* const root = find_root(path);
  if (root == nullptr || (access != Access::Read && !root->writable)) {
    errno = EXDEV;
    return -1;
  }
  const char* rest = path + root->length;
  while (*rest == '/') {
    ++rest;
  }
  return open_at(root->fd, *rest == '\0' ? "." : rest, open_flags, RESOLVE_BENEATH);
}

Problem failed_open() noexcept {
  Problem problem = failed_call("openat2");
  if (problem.errnum == EXDEV) {
    problem.kind = FailureKind::Outside;
  }
  return problem;
}

bool name_directory(int directory, char (&path)[kMaxPath]) noexcept {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  const ssize_t length = readlinkat(AT_FDCWD, link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  return length > 0 && length < static_cast<ssize_t>(sizeof path - 1) && path[0] == '/';
}

Problem check_protected(int parent, const char* name, const char* asked, Reach reach) noexcept {
  if (protected_count == 0) {
    return {};
  }
  char directory[kMaxPath];
  char path[kMaxPath + kMaxPath];
  if (name_directory(parent, directory)) {
    const bool top = directory[1] == '\0';
    snprintf(path, sizeof path, "%s%s%s", top ? "" : directory, name[0] != '\0' ? "/" : "", name);
  } else {
    snprintf(path, sizeof path, "%s", asked);
  }
  wire::Reader paths = protected_paths;
  for (std::uint32_t at = 0; at < protected_count; ++at) {
    const char* const held = paths.text();
    if (covers(held, path) || (reach == Reach::BelowAndAbove && covers(path, held))) {
      return {EPERM, FailureKind::Protected, ""};
    }
  }
  return {};
}

}  // namespace bawn::sandbox::warden::agent
