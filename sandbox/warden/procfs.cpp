#include "procfs.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

Process listed[kMaxProcesses];

bool is_wanted(const Process& process, Look look) noexcept {
  return look == Look::All || (process.state != 'Z' && process.state != 'X');
}

/// A whole small file below /proc, NUL-terminated; the number of bytes or -1.
ssize_t read_small(int proc, const char* path, char* buffer, std::size_t size) noexcept {
  const int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  std::size_t done = 0;
  ssize_t count = 0;
  while (done + 1 < size && (count = read(fd, buffer + done, size - 1 - done)) > 0) {
    done += static_cast<std::size_t>(count);
  }
  close(fd);
  buffer[done] = '\0';
  return count < 0 ? -1 : static_cast<ssize_t>(done);
}

pid_t number_of(const char* name) noexcept {
  char* end = nullptr;
  const long value = strtol(name, &end, 10);
  return end != name && *end == '\0' && value > 0 ? static_cast<pid_t>(value) : 0;
}

/// Calls `each` with every numeric name in an open directory.
template <class Each>
void each_number(int directory, Each each) noexcept {
  alignas(DirectoryEntry) char buffer[8192];
  (void)lseek(directory, 0, SEEK_SET);
  for (;;) {
    const long size = syscall(SYS_getdents64, directory, buffer, sizeof buffer);
    if (size <= 0) {
      return;
    }
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      if (const pid_t number = number_of(entry->name); number > 0) {
        each(number);
      }
      at += entry->length;
    }
  }
}

std::size_t list_all(int proc, Look look) noexcept {
  std::size_t count = 0;
  const pid_t self = getpid();
  each_number(proc, [&](pid_t pid) {
    if (pid != self && count < kMaxProcesses && read_process(proc, pid, listed[count]) &&
        is_wanted(listed[count], look)) {
      ++count;
    }
  });
  return count;
}

/// Adds one thread's children. A number counts only while its process names `pid` as the parent: a
/// process that went meanwhile may have left its number to a stranger.
void add_children(int proc, pid_t pid, pid_t thread, Look look, std::size_t& count) noexcept {
  char path[64];
  snprintf(path, sizeof path, "%d/task/%d/children", static_cast<int>(pid),
           static_cast<int>(thread));
  static char text[std::size_t{64} << 10U];
  const ssize_t length = read_small(proc, path, text, sizeof text);
  if (length <= 0) {
    return;
  }
  drop_cut_word(text, static_cast<std::size_t>(length), sizeof text);
  char* save = nullptr;
  for (char* word = strtok_r(text, " \n", &save); word != nullptr && count < kMaxProcesses;
       word = strtok_r(nullptr, " \n", &save)) {
    const pid_t child = number_of(word);
    if (child > 0 && read_process(proc, child, listed[count]) && listed[count].parent == pid &&
        is_wanted(listed[count], look)) {
      ++count;
    }
  }
}

/// Breadth first; any thread of a process may be the parent.
std::size_t list_descendants(int proc, Look look) noexcept {
  std::size_t count = 0;
  add_children(proc, getpid(), getpid(), look, count);
  for (std::size_t at = 0; at < count; ++at) {
    const pid_t pid = listed[at].pid;
    char path[32];
    snprintf(path, sizeof path, "%d/task", static_cast<int>(pid));
    const int tasks = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tasks >= 0) {
      each_number(tasks, [&](pid_t thread) { add_children(proc, pid, thread, look, count); });
      close(tasks);
    }
  }
  return count;
}

/// Compares a stream of NUL-separated strings with one prefix, byte by byte.
class MarkerScan {
 public:
  explicit MarkerScan(char (&call)[kMaxCall + 1]) noexcept : call_(call) {}

  /// True once the marker was read whole.
  bool take(char byte) noexcept {
    if (byte == '\0') {
      const bool complete = matched_ == kLength;
      restart();
      return complete;
    }
    if (matched_ < kLength) {
      matched_ = byte == kMarker[matched_] ? matched_ + 1 : kNever;
    } else if (matched_ == kLength) {
      if (size_ == kMaxCall) {
        matched_ = kNever;  // none of ours is that long
        return false;
      }
      call_[size_++] = byte;
      call_[size_] = '\0';
    }
    return false;
  }

 private:
  static constexpr char kMarker[] = "BAWN_CALL=";
  static constexpr std::size_t kLength = sizeof kMarker - 1;
  static constexpr std::size_t kNever = kLength + 1;

  void restart() noexcept {
    if (matched_ != kLength) {
      call_[0] = '\0';
    }
    matched_ = 0;
    size_ = 0;
  }

  char (&call_)[kMaxCall + 1];
  std::size_t matched_ = 0;
  std::size_t size_ = 0;
};

}  // namespace

bool read_process(int proc, pid_t pid, Process& process) noexcept {
  char path[32];
  char text[1024];
  snprintf(path, sizeof path, "%d/stat", static_cast<int>(pid));
  if (read_small(proc, path, text, sizeof text) <= 0) {
    return false;
  }
  // The name may hold blanks and parentheses: it ends at the last one.
  const char* const open = strchr(text, '(');
  const char* const close = strrchr(text, ')');
  if (open == nullptr || close == nullptr || close[1] != ' ') {
    return false;
  }
  auto length = static_cast<std::size_t>(close - open - 1);
  length = length < sizeof process.name - 1 ? length : sizeof process.name - 1;
  memcpy(process.name, open + 1, length);
  process.name[length] = '\0';
  int parent = 0;
  int pgid = 0;
  int sid = 0;
  int threads = 0;
  unsigned long long start = 0;
  if (sscanf(close + 2,
             "%c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu",
             &process.state, &parent, &pgid, &sid, &threads, &start) != 6) {
    return false;
  }
  if (process.state == 'Z' && threads > 1) {
    process.state = 'S';  // its first thread has left, the others run
  }
  process.pid = pid;
  process.parent = parent;
  process.pgid = pgid;
  process.sid = sid;
  process.start_time = start;
  return true;
}

void find_call(int proc, pid_t pid, char (&call)[kMaxCall + 1]) noexcept {
  const char* const started_for = call_of_child(pid);
  snprintf(call, sizeof call, "%s", started_for != nullptr ? started_for : "");
  if (call[0] != '\0') {
    return;
  }
  char path[32];
  snprintf(path, sizeof path, "%d/environ", static_cast<int>(pid));
  const int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return;
  }
  MarkerScan scan(call);
  char buffer[4096];
  bool complete = false;
  ssize_t count = 0;
  while (!complete && (count = read(fd, buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < count && !complete; ++at) {
      complete = scan.take(buffer[at]);
    }
  }
  close(fd);
  if (!complete) {
    call[0] = '\0';
  }
}

std::size_t list_session(const Station& station, Look look, Process*& processes) noexcept {
  std::size_t count = station.own_pid_namespace ? list_all(station.proc, look)
                                                : list_descendants(station.proc, look);
  const Process* const end = std::remove_if(
      listed, listed + count, [](const Process& process) { return is_agent(process.pid); });
  count = static_cast<std::size_t>(end - listed);
  std::sort(listed, listed + count,
            [](const Process& left, const Process& right) { return left.pid < right.pid; });
  processes = listed;
  return count;
}

int hold_process(int proc, const Process& process, Process& now) noexcept {
  const auto pidfd = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0U));
  if (pidfd < 0) {
    return -1;
  }
  if (read_process(proc, process.pid, now) && now.start_time == process.start_time &&
      is_wanted(now, Look::Alive)) {
    return pidfd;
  }
  close(pidfd);
  return -1;
}

void kill_descendants(int proc) noexcept {
  const std::size_t count = list_descendants(proc, Look::Alive);
  for (std::size_t at = 0; at < count; ++at) {
    Process now;
    const int pidfd = hold_process(proc, listed[at], now);
    if (pidfd >= 0) {
      (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0U);
      close(pidfd);
    }
  }
}

void drop_cut_word(char* text, std::size_t length, std::size_t size) noexcept {
  if (length + 1 < size) {
    return;
  }
  while (length > 0 && text[length - 1] != ' ') {
    --length;
  }
  text[length] = '\0';
}

}  // namespace bawn::sandbox::warden
