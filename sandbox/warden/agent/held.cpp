// Behind a relay no descriptor reaches the server: the agent holds the one file that it works with,
// and the server reads and writes it by requests.
#include "agent.hpp"

#include <stdio.h>
#include <string.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

Held held;
Held parent;                 // of a hidden name
char hidden[kMaxName] = "";  // empty: it has none

/// Reads until there is no more or no room; -1 after a failure.
ssize_t read_at(int file, unsigned char* into, std::size_t size, std::uint64_t offset) noexcept {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = pread(file, into + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return count < 0 ? -1 : static_cast<ssize_t>(done);
    }
    done += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(done);
}

}  // namespace

void hold_opened(Held& file) noexcept {
  let_held_go();
  held.reset(file.release());
}

void hold_staged(Held& file, Place& place, const char* name, bool named) noexcept {
  let_held_go();
  held.reset(file.release());
  if (named) {
    parent.reset(place.parent.release());
    snprintf(hidden, sizeof hidden, "%s", name);
  }
}

int held_file() noexcept {
  return held.get();
}

bool held_is_named() noexcept {
  return hidden[0] != '\0';
}

void let_held_go() noexcept {
  struct stat own = {};
  struct stat there = {};
  if (held_is_named() && fstat(held.get(), &own) == 0 &&
      fstatat(parent.get(), hidden, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      own.st_dev == there.st_dev && own.st_ino == there.st_ino) {
    (void)unlinkat(parent.get(), hidden, 0);
  }
  forget_held();
}

void forget_held() noexcept {
  held.reset(-1);
  parent.reset(-1);
  hidden[0] = '\0';
}

Problem put_content(Packer& out, int file, std::uint64_t offset, std::size_t most,
                    bool& ends) noexcept {
  // Behind it the padding, at least the one NUL, and a status.
  constexpr std::size_t kAround = 2 * sizeof(std::uint32_t) + file_wire::kStatusSize;
  const std::size_t left = out.capacity - out.size;
  const std::size_t room = left > kAround ? left - kAround : 0;
  const std::size_t wanted = most < room ? most : room;
  unsigned char* const bytes = out.data + out.size + sizeof(std::uint32_t);
  const ssize_t count = read_at(file, bytes, wanted, offset);
  if (count < 0) {
    return failed_call("pread");
  }
  const auto length = static_cast<std::size_t>(count);
  const std::size_t padded = length + 4 - length % 4;
  out.u32(static_cast<std::uint32_t>(length));
  memset(bytes + length, 0, padded - length);
  out.size += padded;
  ends = length < wanted;
  return {};
}

Problem read_held(Request& request, Reply& reply) noexcept {
  const std::uint64_t offset = request.in.u64();
  const std::uint32_t most = request.in.u32();
  if (held_file() < 0 || most > file_wire::kMaxContent) {
    return {EBADF, FailureKind::System, "pread"};
  }
  bool ends = false;
  const Problem problem = put_content(reply.out, held_file(), offset, most, ends);
  struct stat status = {};
  if (!problem.failed() && fstat(held_file(), &status) != 0) {
    return failed_call("fstat");
  }
  put_status(reply.out, status);
  return problem;
}

Problem write_held(Request& request, Reply& /*reply*/) noexcept {
  const std::uint64_t offset = request.in.u64();
  const std::size_t length = request.in.u32();
  const unsigned char* const bytes = request.in.bytes(length + 1);
  if (!request.in.finished() || held_file() < 0) {
    return {EBADF, FailureKind::System, "pwrite"};
  }
  for (std::size_t done = 0; done < length;) {
    const ssize_t count =
        pwrite(held_file(), bytes + done, length - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      // What was staged with a hole in it must not be committed.
      const Problem problem = count < 0 ? failed_call("pwrite") : Problem{EIO};
      let_held_go();
      return problem;
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

Problem hand_held(Request& /*request*/, Reply& reply) noexcept {
  if (held_file() < 0) {
    return {EBADF, FailureKind::System, "fcntl"};
  }
  reply.fd.reset(fcntl(held_file(), F_DUPFD_CLOEXEC, 0));
  return reply.fd.is_open() ? Problem{} : failed_call("fcntl");
}

}  // namespace bawn::sandbox::warden::agent
