// Signals to a group, a process, a call or the whole session. A number is never trusted: every
// target is held by a pidfd and its start time is compared again before the signal goes out.
#include "procfs.hpp"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/// Whose a process is, seen from the call in question.
enum class Owner : unsigned char { Unknown, Ours, Other };

Owner owners[kMaxProcesses];

struct Reached {
  pid_t pid;
  std::uint64_t start_time;
};
Reached reached[kMaxProcesses];
std::size_t reached_count = 0;

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
  for (std::size_t at = 0; at < reached_count; ++at) {
    if (reached[at].pid == process.pid && reached[at].start_time == process.start_time) {
      return true;
    }
  }
  return false;
}

/// Stopped processes act on a signal that can be caught only when they go on.
bool needs_continue(int signal, char state) noexcept {
  return (state == 'T' || state == 't') &&
         (signal == SIGTERM || signal == SIGHUP || signal == SIGINT);
}

/// True when the signal was delivered to exactly this process.
bool send_to(const Station& station, const Process& process, int signal) noexcept {
  const long pidfd = syscall(SYS_pidfd_open, process.pid, 0U);
  if (pidfd < 0) {
    return false;
  }
  Process now;
  const bool sent = read_process(station.proc, process.pid, now) &&
                    now.start_time == process.start_time && now.state != 'Z' && now.state != 'X' &&
                    syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0U) == 0;
  if (sent && needs_continue(signal, now.state)) {
    (void)syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, nullptr, 0U);
  }
  if (!sent || signal != SIGKILL) {
    close(static_cast<int>(pidfd));
    return sent;
  }
  if (dying_count == kMaxDying) {
    await_dying();
  }
  dying[dying_count++] = static_cast<int>(pidfd);
  return true;
}

Owner owner_by_marker(const Station& station, const Process& process, const char* wanted) noexcept {
  char call[kMaxCall + 1];
  find_call(station.proc, process.pid, call);
  if (call[0] == '\0') {
    return Owner::Unknown;
  }
  return strcmp(call, wanted) == 0 ? Owner::Ours : Owner::Other;
}

/// Children without a marker belong to whom their parent belongs, however deep.
void inherit_owners(const Process* processes, std::size_t count) noexcept {
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t at = 0; at < count; ++at) {
      for (std::size_t above = 0; owners[at] == Owner::Unknown && above < count; ++above) {
        if (processes[above].pid == processes[at].parent && owners[above] != Owner::Unknown) {
          owners[at] = owners[above];
          changed = true;
        }
      }
    }
  }
}

void decide_owners(const Station& station, const Request& request, const Process* processes,
                   std::size_t count) noexcept {
  for (std::size_t at = 0; at < count; ++at) {
    owners[at] = request.kind == Kind::Session
                     ? Owner::Ours
                     : owner_by_marker(station, processes[at], request.call);
  }
  inherit_owners(processes, count);
  // What has neither marker nor a parent that tells (env -i, reparented): by time.
  for (std::size_t at = 0; at < count; ++at) {
    if (owners[at] == Owner::Unknown && request.not_before != 0 &&
        processes[at].start_time >= request.not_before) {
      owners[at] = Owner::Ours;
    }
  }
}

/// One look at the session; how many processes were reached for the first time.
std::size_t pass(const Station& station, const Request& request) noexcept {
  Process* processes = nullptr;
  const std::size_t count = list_session(station, processes);
  decide_owners(station, request, processes, count);
  const std::size_t before = reached_count;
  for (std::size_t at = 0; at < count; ++at) {
    const Process& process = processes[at];
    if (owners[at] != Owner::Ours || process.pid == request.keep_pid || was_reached(process) ||
        reached_count == kMaxProcesses || !send_to(station, process, request.signal)) {
      continue;
    }
    reached[reached_count++] = {process.pid, process.start_time};
  }
  return reached_count - before;
}

/// SIGKILL is repeated until a pass finds nobody new: a fork that was under way when its parent was
/// hit is seen by the next one, and a process with SIGKILL pending cannot fork again.
std::uint32_t signal_many(const Station& station, const Request& request) noexcept {
  reached_count = 0;
  while (pass(station, request) > 0 && request.signal == SIGKILL) {
  }
  return static_cast<std::uint32_t>(reached_count);
}

std::uint32_t signal_process(const Station& station, const Request& request) noexcept {
  Process* processes = nullptr;
  const std::size_t count = list_session(station, processes);
  for (std::size_t at = 0; at < count; ++at) {
    if (processes[at].pid == request.id) {
      return send_to(station, processes[at], request.signal) ? 1 : 0;
    }
  }
  return 0;
}

std::uint32_t signal_group(const Station& station, const Request& request) noexcept {
  Process* processes = nullptr;
  const std::size_t count = list_session(station, processes);
  std::uint32_t members = 0;
  bool stopped = false;
  for (std::size_t at = 0; at < count; ++at) {
    const bool member = processes[at].pgid == request.id && processes[at].state != 'Z';
    members += member ? 1 : 0;
    stopped = stopped || (member && needs_continue(request.signal, processes[at].state));
  }
  if (members == 0 && is_pending_child(request.id)) {
    return signal_process(station, request);  // it has not made its session yet
  }
  // A group with no member of the session may be the warden's own or, without a PID namespace, a
  // stranger's.
  if (request.id <= 1 || request.id == getpgrp() || members == 0 ||
      kill(-request.id, request.signal) != 0) {
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
