// Processes whose end the server waits for.
#include "procfs.hpp"
#include "relay.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bawn::sandbox::warden::relay {

Watched watched[kMaxWatched];

namespace {

/// The process's number in the innermost of its namespaces, as its status says.
int innermost_number(int proc, pid_t pid) noexcept {
  char path[32];
  char text[4096];
  snprintf(path, sizeof path, "%d/status", static_cast<int>(pid));
  const int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  close(fd);
  text[length > 0 ? length : 0] = '\0';
  const char* at = strstr(text, "\nNSpid:");
  int number = 0;
  for (at = at == nullptr ? text : at + 7; *at != '\0' && *at != '\n';) {
    char* end = nullptr;
    const long value = strtol(at, &end, 10);
    if (end == at) {
      break;
    }
    number = static_cast<int>(value);
    at = end;
    at += *at == '\t' ? 1 : 0;
  }
  return number;
}

struct Wanted {
  int inside;
  std::uint64_t start_time;
};

/// A pidfd of that process as long as it lives.
int hold_if(int proc, pid_t pid, const Wanted& wanted) noexcept {
  Process process;
  Process now;
  return read_process(proc, pid, process) && process.start_time == wanted.start_time &&
                 innermost_number(proc, pid) == wanted.inside
             ? hold_process(proc, process, now)
             : -1;
}

/// Where the session has no PID namespace of its own the number is the same here; else all are
/// looked at.
int hold(int proc, const Wanted& wanted) noexcept {
  const int direct = hold_if(proc, wanted.inside, wanted);
  if (direct >= 0) {
    return direct;
  }
  alignas(dirent64) static char buffer[std::size_t{32} << 10U];
  (void)lseek(proc, 0, SEEK_SET);
  for (;;) {
    const long size = syscall(SYS_getdents64, proc, buffer, sizeof buffer);
    if (size <= 0) {
      return -1;
    }
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      const int pid = atoi(entry->d_name);
      const int found = pid > 0 ? hold_if(proc, pid, wanted) : -1;
      if (found >= 0) {
        return found;
      }
    }
  }
}

Watched* free_place() noexcept {
  for (Watched& one : watched) {
    if (one.id == 0) {
      return &one;
    }
  }
  return nullptr;
}

}  // namespace

bool watch(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept {
  wire::Reader in(payload, size);
  (void)in.u32();  // the session
  const std::uint32_t count = in.count(12);
  const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool gone = false;
  for (std::uint32_t at = 0; at < count && in.ok(); ++at) {
    const int inside = in.i32();
    const Wanted wanted = {inside, in.u64()};
    Watched* const place = free_place();
    const int pidfd = place == nullptr ? -1 : hold(proc, wanted);
    if (pidfd >= 0) {
      place->id = request;
      place->pidfd = pidfd;
    }
    gone = gone || (place != nullptr && pidfd < 0);
  }
  close(proc);
  return in.finished() && tell_done(request, 0) && (!gone || watched_ended(request));
}

void unwatch(std::uint32_t request) noexcept {
  for (Watched& one : watched) {
    if (one.id == request && request != 0) {
      close(one.pidfd);
      one = Watched{};
    }
  }
}

bool watched_ended(std::uint32_t request) noexcept {
  unwatch(request);
  return tell(Type::Ended, request, nullptr, 0);
}

}  // namespace bawn::sandbox::warden::relay
