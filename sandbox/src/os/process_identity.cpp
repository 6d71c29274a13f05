#include "bawn/os/process_identity.hpp"

#include "bawn/os/procfs.hpp"
#include "bawn/os/unique_fd.hpp"

#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

namespace bawn::os {

contract::Result<ProcessIdentity> own_identity() {
  const int self = ::getpid();
  return ProcessIdentity{.pid = self, .start_time = BAWN_TRY(start_time(self))};
}

std::string to_string(const ProcessIdentity& process) {
  return fmt::format("{}-{}", process.pid, process.start_time);
}

std::optional<ProcessIdentity> take_identity(std::string_view& name) {
  ProcessIdentity process;
  const char* const end = name.data() + name.size();
  const auto [dash, bad_pid] = std::from_chars(name.data(), end, process.pid);
  if (bad_pid != std::errc() || dash == end || *dash != '-' || process.pid <= 0) {
    return std::nullopt;
  }
  const auto [rest, bad_time] = std::from_chars(dash + 1, end, process.start_time);
  if (bad_time != std::errc()) {
    return std::nullopt;
  }
  name = {rest, static_cast<std::size_t>(end - rest)};
  return process;
}

bool is_running(const ProcessIdentity& process) {
  const auto found = start_time(process.pid);
  return found && *found == process.start_time;
}

bool has_ended(const ProcessIdentity& process) {
  if (const auto found = start_time(process.pid)) {
    return *found != process.start_time;
  }
  const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  return !handle.is_open() && errno == ESRCH;
}

}  // namespace bawn::os
