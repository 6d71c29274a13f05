#include "call_processes.hpp"

#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace bawn::shell {

Result<int> signal_process(sandbox::Warden& warden, int inside_pid, int signal) {
  return warden.signal({.kind = sandbox::SignalTarget::Kind::Process,
                        .id = inside_pid,
                        .call = {},
                        .not_before = 0,
                        .keep_pid = 0},
                       signal);
}

Result<int> signal_call(sandbox::Warden& warden, const CallScope& scope, int signal) {
  return warden.signal({.kind = sandbox::SignalTarget::Kind::Call,
                        .id = 0,
                        .call = scope.marker,
                        .not_before = scope.not_before,
                        .keep_pid = scope.shell_inside_pid},
                       signal);
}

Result<std::vector<sandbox::ProcessInfo>> call_processes(sandbox::Warden& warden,
                                                         const CallScope& scope,
                                                         char* shell_state) {
  std::vector<sandbox::ProcessInfo> found;
  for (sandbox::ProcessInfo& process : BAWN_TRY(warden.tree())) {
    if (process.pid == scope.shell_pid) {
      if (shell_state != nullptr) {
        *shell_state = process.state;
      }
      continue;
    }
    if (process.state == 'Z' || process.state == 'X') {
      continue;
    }
    // No marker: it cleared its environment. The shell's marker: a fork of the shell that has not
    // executed anything. Both belong to the call during which they appeared.
    const bool unmarked =
        process.call.empty() || (!scope.shell_marker.empty() && process.call == scope.shell_marker);
    if (process.call == scope.marker || (unmarked && process.start_time >= scope.not_before)) {
      found.push_back(std::move(process));
    }
  }
  return found;
}

namespace {

bool is_poll(long number) noexcept {
  for (const long one : {
#ifdef SYS_poll
           static_cast<long>(SYS_poll), static_cast<long>(SYS_select),
#endif
           static_cast<long>(SYS_ppoll), static_cast<long>(SYS_pselect6)}) {
    if (number == one) {
      return true;
    }
  }
  return false;
}

bool waits(int pid, const InputFeed& input) {
  const std::string directory = fmt::format("/proc/{}/", pid);
  std::ifstream file(directory + "syscall");
  long number = -1;
  std::string first;
  if (!(file >> number >> first)) {
    return false;  // "running", or we may not look
  }
  if (number == SYS_read) {
    const unsigned long fd = std::strtoul(first.c_str(), nullptr, 16);
    return input.is_at(fmt::format("{}fd/{}", directory, fd));
  }
  return is_poll(number) && input.is_at(directory + "fd/0");
}

}  // namespace

bool waits_for(const std::vector<sandbox::ProcessInfo>& processes, const std::string& call,
               const std::string& shell, const InputFeed& input) {
  return input.consumed() &&
         std::any_of(processes.begin(), processes.end(), [&](const auto& process) {
           return process.state == 'S' && process.pid != 0 &&
                  (process.call == call || (!shell.empty() && process.call == shell)) &&
                  waits(process.pid, input);
         });
}

Survivor to_survivor(const sandbox::ProcessInfo& process) {
  return {.pid = process.pid,
          .inside_pid = process.inside_pid,
          .pgid = process.pgid,
          .state = process.state,
          .name = process.name};
}

}  // namespace bawn::shell
