// A new file for a name: without a name of its own where the file system can do that, so that
// nothing is left whoever dies.
#include "agent.hpp"
#include "kept_attributes.hpp"

#include <string.h>
#include <sys/xattr.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

constexpr std::size_t kMaxNames = std::size_t{16} << 10U;
constexpr std::size_t kMaxValue = std::size_t{64} << 10U;

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

}  // namespace

bool put_attributes(Packer& out, int file, bool only) noexcept {
  static char names[kMaxNames];
  static char value[kMaxValue];
  const std::size_t head = out.size;
  std::uint32_t count = 0;
  out.u32(0);
  const ssize_t length = file >= 0 ? flistxattr(file, names, sizeof names) : -1;
  bool complete = length >= 0 || (file >= 0 && errno == EOPNOTSUPP);
  for (ssize_t at = 0; at < length; at += static_cast<ssize_t>(strlen(names + at)) + 1) {
    const char* const name = names + at;
    if (!is_kept_attribute(name)) {
      complete = complete && (!only || is_kernels_attribute(name));
      continue;
    }
    const ssize_t size = fgetxattr(file, name, value, sizeof value);
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

Problem stage_file(Request& request, Reply& reply) noexcept {
  let_held_go();
  const std::uint32_t order = request.in.u32();
  const char* const hidden = request.in.text();
  const char* const path = request.in.text();
  Place place;
  std::uint32_t made = 0;
  Problem problem = find_target(path, (order & file_wire::kMakeParents) != 0, place, made);
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
    const Held old(openat(place.parent.get(), place.name,
                          O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    flags |= put_attributes(out, old.get(), false) ? 0U : file_wire::kAttributesCut;
  } else {
    out.u32(0);
  }
  struct stat made_file = {};
  (void)fstat(reply.fd.get(), &made_file);
  out.u64(made_file.st_dev);
  out.u64(made_file.st_ino);
  memcpy(out.data + head, &flags, sizeof flags);
  if (is_carried()) {
    hold_staged(reply.fd, place, hidden, named);
    if ((order & file_wire::kOnlyLook) != 0) {
      let_held_go();
    }
  }
  return {};
}

}  // namespace bawn::sandbox::warden::agent
