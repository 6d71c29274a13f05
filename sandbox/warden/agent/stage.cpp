// A new file for a name: without a name of its own where the file system can do that, so that
// nothing is left whoever dies.
#include "agent.hpp"

#include <string.h>
#include <sys/xattr.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

constexpr std::size_t kMaxNames = std::size_t{16} << 10U;
constexpr std::size_t kMaxValue = std::size_t{64} << 10U;

/// What a replaced file's successor may keep: not security.* (capabilities, labels), which a write
/// takes away as well or the kernel sets anew.
bool is_kept(const char* name) noexcept {
  return strncmp(name, "user.", 5) == 0 || strcmp(name, "system.posix_acl_access") == 0;
}

/// Finds or makes the place of the file.
Problem find_target(const char* path, bool make_parents, Place& place,
                    std::uint32_t& made) noexcept {
  Problem problem = find_place(path, Last::Follow, place);
  if (problem.failed() && problem.errnum == ENOENT && make_parents) {
    // `place.path` is where the links led so far.
    char directory[kMaxPath];
    strcpy(directory, place.path);
    *strrchr(directory, '/') = '\0';
    problem = make_directories(directory, {.mode = 0777}, made);
    problem = problem.failed() ? problem : find_place(path, Last::Follow, place);
  }
  if (!problem.failed() && place.present) {
    problem = require_regular(place.status);
  }
  return problem.failed()
             ? problem
             : check_protected(place.parent.get(), place.name, place.path, Reach::Below);
}

/// Opens the new file; `named` when it had to get the hidden name.
Problem make_file(const Place& place, const char* hidden, Held& file, bool& named) noexcept {
  const int parent = place.parent.get();
  file.reset(openat(parent, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  // What file systems and kernels without O_TMPFILE say.
  if (!file.is_open() && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT ||
                          errno == EINVAL || errno == ENOSYS)) {
    named = true;
    file.reset(openat(parent, hidden, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
  }
  return file.is_open() ? Problem{} : failed_call("openat");
}

/// Appends the attributes that can be had; false when some could not.
bool put_attributes(Packer& out, const Place& place) noexcept {
  static char names[kMaxNames];
  static char value[kMaxValue];
  const std::size_t head = out.size;
  std::uint32_t count = 0;
  out.u32(0);
  const Held file(openat(place.parent.get(), place.name,
                         O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
  const ssize_t length = file.is_open() ? flistxattr(file.get(), names, sizeof names) : -1;
  bool complete = length >= 0 || (file.is_open() && errno == EOPNOTSUPP);
  for (ssize_t at = 0; at < length; at += static_cast<ssize_t>(strlen(names + at)) + 1) {
    const char* const name = names + at;
    if (!is_kept(name)) {
      continue;
    }
    const ssize_t size = fgetxattr(file.get(), name, value, sizeof value);
    const std::size_t before = out.size;
    out.text(name, strlen(name));
    out.text(value, size > 0 ? static_cast<std::size_t>(size) : 0);
    if (size < 0 || out.full) {
      out.size = before;
      out.full = false;
      complete = false;
    } else {
      ++count;
    }
  }
  memcpy(out.data + head, &count, sizeof count);
  return complete;
}

}  // namespace

Problem stage_file(Request& request, Reply& reply) noexcept {
  const bool make_parents = request.in.u32() != 0;
  const char* const hidden = request.in.text();
  const char* const path = request.in.text();
  Place place;
  std::uint32_t made = 0;
  Problem problem = find_target(path, make_parents, place, made);
  if (problem.failed()) {
    return problem;
  }
  bool named = false;
  problem = make_file(place, hidden, reply.fd, named);
  if (problem.failed()) {
    *strrchr(place.path, '/') = '\0';
    remove_directories(place.path, made);
    return problem;
  }
  Packer& out = reply.out;
  std::uint32_t flags = named ? file_wire::kNamed : 0U;
  const std::size_t head = out.size;
  out.u32(0);
  out.u32(made);
  put_target(out, place);
  if (place.present) {
    flags |= file_wire::kPresent;
    put_status(out, place.status);
    flags |= put_attributes(out, place) ? 0U : file_wire::kAttributesCut;
  } else {
    out.u32(0);
  }
  memcpy(out.data + head, &flags, sizeof flags);
  return {};
}

}  // namespace bawn::sandbox::warden::agent
