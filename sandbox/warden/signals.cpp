// Signals to a group, a process, a call or the whole session. A number is never trusted: a target
// is held by a pidfd and its start time is compared again before the signal goes out. The one
// exception is a group in a PID namespace of the session's own, where no number is a stranger's.
#include "owners.hpp"
#include "procfs.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

enum class Kind : std::uint32_t { Group, Process, Call, Session };

struct Request {
  Kind kind = Kind::Session;
  pid_t id = 0;
  const char* call = "";
  std::uint64_t not_before = 0;
  pid_t keep_pid = 0;
  int signal = 0;
};

struct Reached {
  pid_t pid;
  std::uint64_t start_time;
};
/// By rising pid up to `reached_sorted`; what the running pass adds comes behind.
Reached reached[kMaxProcesses];
std::size_t reached_count = 0;
std::size_t reached_sorted = 0;

/// Pidfds of those hit by SIGKILL, to see them die.
constexpr std::size_t kMaxDying = 256;
constexpr std::int64_t kDyingLimitMs = 1000;
int dying[kMaxDying];
std::size_t dying_count = 0;
std::int64_t dying_until = 0;

std::int64_t now_ms() noexcept {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/// So that whoever asked for a kill is answered when it is done; a process in an uninterruptible
/// wait is left after the limit. A pidfd is readable once its process is a zombie.
void await_dying() noexcept {
  for (std::size_t at = 0; at < dying_count; ++at) {
    const std::int64_t left = dying_until - now_ms();
    pollfd waiting = {dying[at], POLLIN, 0};
    if (left > 0) {
      (void)poll(&waiting, 1, static_cast<int>(left));
    }
    close(dying[at]);
  }
  dying_count = 0;
}

bool was_reached(const Process& process) noexcept {
  const Reached* const end = reached + reached_sorted;
  const Reached* const found =
      std::lower_bound(static_cast<const Reached*>(reached), end, process.pid,
                       [](const Reached& entry, pid_t pid) { return entry.pid < pid; });
  return found != end && found->pid == process.pid && found->start_time == process.start_time;
}

void note_reached(const Process& process) noexcept {
  if (reached_count == kMaxProcesses) {
    // Those noted so far are dead or dying: forgetting them costs a second signal at most.
    reached_count = 0;
    reached_sorted = 0;
  }
  reached[reached_count++] = {process.pid, process.start_time};
}

/// Stopped processes act on a signal that can be caught only when they go on.
bool needs_continue(int signal, char state) noexcept {
  return (state == 'T' || state == 't') &&
         (signal == SIGTERM || signal == SIGHUP || signal == SIGINT);
}

/// True when the signal was delivered to exactly this process.
bool send_to(const Station& station, const Process& process, int signal) noexcept {
  Process now;
  const int pidfd = hold_process(station.proc, process, now);
  if (pidfd < 0) {
    return false;
  }
  const bool sent = syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0U) == 0;
  if (sent && needs_continue(signal, now.state)) {
    (void)syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, nullptr, 0U);
  }
  if (!sent || signal != SIGKILL) {
    close(pidfd);
    return sent;
  }
  if (dying_count == kMaxDying) {
    await_dying();
  }
  dying[dying_count++] = pidfd;
  return true;
}

/// One look at the session; how many processes were reached for the first time.
std::uint32_t pass(const Station& station, const Request& request) noexcept {
  Process* processes = nullptr;
  const std::size_t count = list_session(station, Look::Alive, processes);
  if (request.kind == Kind::Call) {
    decide_owners(station, {request.call, request.not_before, request.keep_pid}, processes, count);
  }
  std::uint32_t hit = 0;
  for (std::size_t at = 0; at < count; ++at) {
    const Process& process = processes[at];
    const bool meant = request.kind == Kind::Call    ? is_of_call(at)
                       : request.kind == Kind::Group ? process.pgid == request.id
                                                     : true;
    if (!meant || process.pid == request.keep_pid || was_reached(process) ||
        !send_to(station, process, request.signal)) {
      continue;
    }
    note_reached(process);
    ++hit;
  }
  std::sort(reached, reached + reached_count,
            [](const Reached& left, const Reached& right) { return left.pid < right.pid; });
  reached_sorted = reached_count;
  return hit;
}

/// SIGKILL is repeated until a pass finds nobody new: a fork that was under way when its parent was
/// hit is seen by the next one, and a process with SIGKILL pending cannot fork again.
std::uint32_t signal_many(const Station& station, const Request& request) noexcept {
  reached_count = 0;
  reached_sorted = 0;
  std::uint32_t total = 0;
  std::uint32_t hit = 0;
  do {
    hit = pass(station, request);
    total += hit;
  } while (hit > 0 && request.signal == SIGKILL);
  return total;
}

std::uint32_t signal_process(const Station& station, const Request& request) noexcept {
  Process* processes = nullptr;
  const std::size_t count = list_session(station, Look::Alive, processes);
  for (std::size_t at = 0; at < count; ++at) {
    if (processes[at].pid == request.id) {
      return send_to(station, processes[at], request.signal) ? 1 : 0;
    }
  }
  return 0;
}

/// In a PID namespace of its own the session's groups are nobody else's, and one kill(2) reaches
/// all members at once, forks under way included. Outside, a group's number may become a stranger's
/// between look and signal, so the members are held one by one.
std::uint32_t signal_group(const Station& station, const Request& request) noexcept {
  if (request.id <= 1 || request.id == getpgrp()) {
    return 0;
  }
  Process* processes = nullptr;
  const std::size_t count = list_session(station, Look::Alive, processes);
  std::uint32_t members = 0;
  bool stopped = false;
  for (std::size_t at = 0; at < count; ++at) {
    const bool member = processes[at].pgid == request.id;
    members += member ? 1 : 0;
    stopped = stopped || (member && needs_continue(request.signal, processes[at].state));
  }
  if (members == 0) {
    // A child that has not made its group yet is alone.
    return is_pending_child(request.id) ? signal_process(station, request) : 0;
  }
  if (!station.own_pid_namespace) {
    return signal_many(station, request);
  }
  if (kill(-request.id, request.signal) != 0) {
    return 0;
  }
  if (stopped) {
    (void)kill(-request.id, SIGCONT);
  }
  return members;
}

std::uint32_t perform(const Station& station, const Request& request) noexcept {
  switch (request.kind) {
    case Kind::Group:
      return signal_group(station, request);
    case Kind::Process:
      return signal_process(station, request);
    case Kind::Call:
      return request.call[0] != '\0' ? signal_many(station, request) : 0;
    case Kind::Session:
      return signal_many(station, request);
  }
  return 0;
}

}  // namespace

bool handle_signal(const Station& station, const wire::Header& header) noexcept {
  unsigned char buffer[512];
  if (header.length > sizeof buffer || !receive_bytes(station.stream, buffer, header.length)) {
    return false;
  }
  wire::Reader in(buffer, header.length);
  Request request;
  request.kind = static_cast<Kind>(in.u32());
  request.id = in.i32();
  request.call = in.text();
  request.not_before = in.u64();
  request.keep_pid = in.i32();
  request.signal = in.i32();
  if (!in.finished()) {
    return false;
  }
  dying_until = now_ms() + kDyingLimitMs;
  const std::uint32_t payload[1] = {perform(station, request)};
  await_dying();
  return send_frame(station.stream, wire::Type::Signalled, header.id, payload, sizeof payload, -1);
}

}  // namespace bawn::sandbox::warden
