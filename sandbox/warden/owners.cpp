#include "owners.hpp"

#include <stdlib.h>
#include <string.h>

#include <algorithm>

namespace bawn::sandbox::warden {

namespace {

enum class Owner : unsigned char { Unknown, Ours, Other };

Owner owners[kMaxProcesses];
constexpr std::size_t kNone = kMaxProcesses;

/// The place of a process by its number, or kNone.
std::size_t find(const Process* processes, std::size_t count, pid_t pid) noexcept {
  const Process* const end = processes + count;
  const Process* const found = std::lower_bound(
      processes, end, pid, [](const Process& entry, pid_t number) { return entry.pid < number; });
  return found != end && found->pid == pid ? static_cast<std::size_t>(found - processes) : kNone;
}

/// A marker is SESSION.NUMBER, where the session's part was drawn at random.
bool same_session(const char* left, const char* right) noexcept {
  const char* const left_dot = strrchr(left, '.');
  const char* const right_dot = strrchr(right, '.');
  return left_dot != nullptr && right_dot != nullptr && left_dot - left == right_dot - right &&
         memcmp(left, right, static_cast<std::size_t>(left_dot - left)) == 0;
}

/// 0 when it is no number.
unsigned long number_of(const char* marker) noexcept {
  return strtoul(strrchr(marker, '.') + 1, nullptr, 10);
}

bool is_earlier(const char* marker, const char* than) noexcept {
  const unsigned long number = number_of(marker);
  return number > 0 && number < number_of(than);
}

/// Rule 5.
bool is_believed(const CallQuery& query, const Process& process, const char* marker) noexcept {
  if (marker[0] == '\0' || !same_session(marker, query.call)) {
    return false;
  }
  if (query.not_before == 0 || query.keep_pid == 0) {
    return true;
  }
  return (process.start_time == query.not_before && is_earlier(marker, query.call)) ||
         has_child_of_call(marker, query.keep_pid);
}

/// Unknown when the parent has to tell.
Owner own_evidence(const Station& station, const CallQuery& query, const Process& process,
                   bool has_parent) noexcept {
  if (const char* const started_for = call_of_child(process.pid)) {
    return strcmp(started_for, query.call) == 0 ? Owner::Ours : Owner::Other;
  }
  char marker[kMaxCall + 1];
  find_call(station.proc, process.pid, marker);
  if (strcmp(marker, query.call) == 0) {
    return Owner::Ours;
  }
  if (process.start_time < query.not_before) {
    return Owner::Other;
  }
  if (has_parent) {
    return Owner::Unknown;
  }
  return query.not_before == 0 || is_believed(query, process, marker) ? Owner::Other : Owner::Ours;
}

/// Takes over the owner of the nearest ancestor that has one, for all on the way to it.
void inherit(const CallQuery& query, const Process* processes, std::size_t count,
             std::size_t from) noexcept {
  static std::uint32_t way[kMaxProcesses];
  std::size_t length = 0;
  std::size_t at = from;
  // A number that was used twice while the list was made could close a circle.
  while (at != kNone && owners[at] == Owner::Unknown && length < count) {
    way[length++] = static_cast<std::uint32_t>(at);
    at = processes[at].parent == query.keep_pid ? kNone
                                                : find(processes, count, processes[at].parent);
  }
  const bool decided = at != kNone && owners[at] != Owner::Unknown;
  for (std::size_t step = 0; step < length; ++step) {
    owners[way[step]] = decided ? owners[at] : Owner::Other;
  }
}

}  // namespace

void decide_owners(const Station& station, const CallQuery& query, const Process* processes,
                   std::size_t count) noexcept {
  for (std::size_t at = 0; at < count; ++at) {
    const pid_t parent = processes[at].parent;
    const bool has_parent = parent != query.keep_pid && find(processes, count, parent) != kNone;
    owners[at] = own_evidence(station, query, processes[at], has_parent);
  }
  for (std::size_t at = 0; at < count; ++at) {
    inherit(query, processes, count, at);
  }
}

bool is_of_call(std::size_t at) noexcept {
  return owners[at] == Owner::Ours;
}

}  // namespace bawn::sandbox::warden
