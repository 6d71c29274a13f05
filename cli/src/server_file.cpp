#include "server_file.hpp"

#include "bawn/os/procfs.hpp"

#include <charconv>
#include <system_error>

namespace bawn::cli {

std::optional<ProcessIdentity> server_of(std::string_view file_name) {
  ProcessIdentity server;
  const char* end = file_name.data() + file_name.size();
  const auto [dash, bad_pid] = std::from_chars(file_name.data(), end, server.pid);
  if (bad_pid != std::errc() || dash == end || *dash != '-' || server.pid <= 0) {
    return std::nullopt;
  }
  const auto [rest, bad_time] = std::from_chars(dash + 1, end, server.start_time);
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (bad_time != std::errc() || (suffix != ".jsonl" && suffix != ".jsonl.1")) {
    return std::nullopt;
  }
  return server;
}

bool is_alive(const ProcessIdentity& process) {
  const auto found = os::start_time(process.pid);
  return found && *found == process.start_time;
}

}  // namespace bawn::cli
