#include "agent.hpp"

#include <string.h>
#include <sys/syscall.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

/// What one entry takes at most.
constexpr std::size_t kMaxEntry = 4 + 4 + kMaxName + 4 + 4 + file_wire::kStatusSize;

bool is_dot(const char* name) noexcept {
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

void put_entry(Packer& out, int directory, const DirectoryEntry& entry, bool with_status) noexcept {
  out.u32(static_cast<std::uint32_t>(type_of(static_cast<mode_t>(entry.type) << 12U)));
  out.text(entry.name, strlen(entry.name));
  if (!with_status) {
    return;
  }
  struct stat status = {};
  const bool there = fstatat(directory, entry.name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  out.u32(there ? 1 : 0);
  if (there) {
    put_status(out, status);
  }
}

/// Where a page ends and whether another one follows.
struct PageEnd {
  std::uint64_t offset = 0;
  std::uint32_t count = 0;
  bool more = false;
};

/// Appends entries until the directory or the room ends.
Problem put_entries(Packer& out, int directory, bool with_status, PageEnd& end) noexcept {
  alignas(DirectoryEntry) static char buffer[std::size_t{32} << 10U];
  for (;;) {
    const long size = syscall(SYS_getdents64, directory, buffer, sizeof buffer);
    if (size <= 0) {
      return size == 0 ? Problem{} : failed_call("getdents64");
    }
    for (long at = 0; at < size;) {
      const auto& entry = *reinterpret_cast<const DirectoryEntry*>(buffer + at);
      at += entry.length;
      if (out.capacity - out.size < kMaxEntry) {
        end.more = true;
        return {};
      }
      if (!is_dot(entry.name)) {
        put_entry(out, directory, entry, with_status);
        ++end.count;
      }
      end.offset = static_cast<std::uint64_t>(entry.offset);
    }
  }
}

/// What a server that gets no descriptor is told: as much of the file as fits, and whether it is
/// the file that it was.
Problem put_opened(Reply& reply, const struct stat& before) noexcept {
  Packer& out = reply.out;
  const std::size_t head = out.size;
  const int file = reply.fd.get();
  out.u32(0);
  put_status(out, before);
  std::uint32_t flags = put_attributes(out, file, true) ? 0U : file_wire::kMoreAttributes;
  bool ends = false;
  const Problem problem = put_content(out, file, 0, file_wire::kMaxContent, ends);
  struct stat after = {};
  if (problem.failed() || fstat(file, &after) != 0) {
    return problem.failed() ? problem : failed_call("fstat");
  }
  put_status(out, after);
  flags |= ends ? file_wire::kContentEnds : 0U;
  memcpy(out.data + head, &flags, sizeof flags);
  if (!ends) {
    hold_opened(reply.fd);
  }
  reply.fd.reset(-1);
  return {};
}

}  // namespace

Problem open_file(Request& request, Reply& reply) noexcept {
  let_held_go();
  const char* const path = request.in.text();
  // Looked at before it is opened: opening a FIFO lets its writer go on, and opening a device may
  // do anything.
  struct stat status = {};
  const Held look(open_path(path, O_PATH, Access::Read));
  if (!look.is_open()) {
    return failed_open();
  }
  if (fstat(look.get(), &status) != 0) {
    return failed_call("fstat");
  }
  Problem problem = require_regular(status);
  if (problem.failed()) {
    return problem;
  }
  // Another file may be there by now: it is checked again, and O_NONBLOCK waits for nobody.
  reply.fd.reset(open_path(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, Access::Read));
  if (!reply.fd.is_open()) {
    return failed_open();
  }
  if (fstat(reply.fd.get(), &status) != 0) {
    return failed_call("fstat");
  }
  problem = require_regular(status);
  if (!is_carried() || problem.failed()) {
    put_status(reply.out, status);
    return problem;
  }
  return put_opened(reply, status);
}

Problem status_of(Request& request, Reply& reply) noexcept {
  const int follow = request.in.u32() != 0 ? 0 : O_NOFOLLOW;
  struct stat status = {};
  const Held file(open_path(request.in.text(), O_PATH | follow, Access::Read));
  if (!file.is_open()) {
    return failed_open();
  }
  if (fstat(file.get(), &status) != 0) {
    return failed_call("fstat");
  }
  put_status(reply.out, status);
  return {};
}

Problem list_directory(Request& request, Reply& reply) noexcept {
  const bool with_status = request.in.u32() != 0;
  const std::uint64_t device = request.in.u64();
  const std::uint64_t inode = request.in.u64();
  const std::uint64_t offset = request.in.u64();
  const Held directory(open_path(request.in.text(), O_RDONLY | O_DIRECTORY, Access::Read));
  if (!directory.is_open()) {
    return failed_open();
  }
  struct stat status = {};
  if (fstat(directory.get(), &status) != 0) {
    return failed_call("fstat");
  }
  if (offset != 0 && (status.st_dev != device || status.st_ino != inode)) {
    return {ESTALE, FailureKind::Changed, ""};
  }
  if (offset != 0 && lseek(directory.get(), static_cast<off_t>(offset), SEEK_SET) < 0) {
    return failed_call("lseek");
  }
  Packer& out = reply.out;
  const std::size_t head = out.size;
  out.size += file_wire::kPageHead;
  PageEnd end;
  const Problem problem = put_entries(out, directory.get(), with_status, end);
  const std::size_t size = out.size;
  out.size = head;
  out.u64(status.st_dev);
  out.u64(status.st_ino);
  out.u64(end.offset);
  out.u32(end.more ? 1 : 0);
  out.u32(end.count);
  out.size = size;
  return problem;
}

Problem read_link(Request& request, Reply& reply) noexcept {
  const Held link(open_path(request.in.text(), O_PATH | O_NOFOLLOW, Access::Read));
  if (!link.is_open()) {
    return failed_open();
  }
  struct stat status = {};
  if (fstat(link.get(), &status) != 0) {
    return failed_call("fstat");
  }
  if (!S_ISLNK(status.st_mode)) {
    return {EINVAL, FailureKind::System, "readlinkat"};
  }
  char text[kMaxPath];
  const ssize_t length = readlinkat(link.get(), "", text, sizeof text);
  if (length < 0) {
    return failed_call("readlinkat");
  }
  reply.out.text(text, static_cast<std::size_t>(length));
  return {};
}

}  // namespace bawn::sandbox::warden::agent
