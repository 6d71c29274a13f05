#include "reap.hpp"

#include "bawn/contract/json.hpp"
#include "bawn/os/pidfd.hpp"
#include "bawn/os/procfs.hpp"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>

namespace bawn::cli {
namespace {

using contract::Json;

struct Identity {
  int pid = 0;
  std::uint64_t start_time = 0;
};

/// "<pid>-<start time>.jsonl", with ".1" behind it for the older half.
std::optional<Identity> server_of(std::string_view name) {
  Identity server;
  const char* end = name.data() + name.size();
  const auto [dash, bad_pid] = std::from_chars(name.data(), end, server.pid);
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

bool is_alive(const Identity& process) {
  const auto found = os::start_time(process.pid);
  return found && *found == process.start_time;
}

void end_if_alive(const Json& data, const char* pid, const char* start_time) {
  if (!data.contains(pid) || !data[pid].is_number_integer() || !data.contains(start_time) ||
      !data[start_time].is_number_unsigned()) {
    return;
  }
  const Identity process{data[pid].get<int>(), data[start_time].get<std::uint64_t>()};
  if (process.pid <= 1) {
    return;
  }
  // Held first and compared afterwards, so that the one compared is the one that is ended.
  const auto held = os::Pidfd::open(process.pid);
  if (held && is_alive(process)) {
    std::ignore = held->signal(SIGKILL);
  }
}

void end_what_is_named(const std::filesystem::path& file, const std::string& boot) {
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const auto record = contract::parse_json(line);
    if (!record || !record->is_object() || !record->contains("data") ||
        !(*record)["data"].is_object()) {
      continue;  // the last line of a server that was killed while it wrote
    }
    const Json& data = (*record)["data"];
    if (data.contains("boot_id") && data["boot_id"] == boot) {
      end_if_alive(data, "warden_pid", "warden_start_time");
      end_if_alive(data, "pid", "start_time");
    }
  }
}

}  // namespace

void end_left_behind(const std::string& records_folder) {
  const auto boot = os::boot_id();
  std::error_code failed;
  std::filesystem::directory_iterator entry(records_folder, failed);
  for (; boot && !failed && entry != std::filesystem::directory_iterator();
       entry.increment(failed)) {
    const auto server = server_of(entry->path().filename().string());
    if (!server || is_alive(*server) || !entry->is_regular_file(failed)) {
      continue;
    }
    end_what_is_named(entry->path(), *boot);
    ::unlink(entry->path().c_str());
  }
}

}  // namespace bawn::cli
