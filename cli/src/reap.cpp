#include "reap.hpp"

#include "bawn/container/place.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/os/pidfd.hpp"
#include "bawn/os/procfs.hpp"
#include "environment.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

namespace bawn::cli {
namespace {

using contract::Json;

std::optional<os::ProcessIdentity> process_in(const Json& data, const char* pid,
                                              const char* start_time) {
  if (!data.contains(pid) || !data[pid].is_number_integer() || !data.contains(start_time) ||
      !data[start_time].is_number_unsigned()) {
    return std::nullopt;
  }
  const os::ProcessIdentity process{data[pid].get<int>(), data[start_time].get<std::uint64_t>()};
  return process.pid > 1 ? std::optional(process) : std::nullopt;
}

/// One server's file.
class Reaper {
 public:
  Reaper(os::ProcessIdentity server, std::string boot, Reap reap)
      : server_(server), boot_(std::move(boot)), reap_(reap) {}

  void read(const std::filesystem::path& file, std::vector<LeftBehind>& found) {
    std::ifstream in(file, std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      const auto record = contract::parse_json(line);
      if (!record || !record->is_object() || !record->contains("data") ||
          !(*record)["data"].is_object()) {
        continue;  // the last line of a server that was killed while it wrote
      }
      const Json& data = (*record)["data"];
      if (record->value("namespace", "") == container::kHandleRecord) {
        take_container(data, found);
        continue;
      }
      if (data.contains("boot_id") && data["boot_id"] == boot_) {
        take("warden", process_in(data, "warden_pid", "warden_start_time"), data, found);
        take("process", process_in(data, "pid", "start_time"), data, found);
      }
    }
  }

 private:
  /// The engine's containers outlive a boot, so that of the record is not compared.
  void take_container(const Json& data, std::vector<LeftBehind>& found) const {
    const auto there = container::remove_left_behind(contract::Context(), data, own_environment(),
                                                     reap_ == Reap::End);
    const bool unknown = !there && !there.error().is(contract::ErrorCode::Unsupported);
    if (!unknown && !there.value_or(false)) {
      return;
    }
    found.push_back({.server = server_,
                     .process = {},
                     .what = "container",
                     .session = data.value("container", ""),
                     .ended = !unknown && reap_ == Reap::End});
  }

  void take(const char* what, const std::optional<os::ProcessIdentity>& process, const Json& data,
            std::vector<LeftBehind>& found) const {
    const auto same = [&](const LeftBehind& left) {
      return left.process == *process && left.what != "container";
    };
    if (!process || std::any_of(found.begin(), found.end(), same)) {
      return;
    }
    // Held first and compared afterwards, so that the one compared is the one that is ended.
    const auto held = os::Pidfd::open(process->pid);
    if (!held || !os::is_running(*process)) {
      return;
    }
    LeftBehind left{.server = server_, .process = *process, .what = what, .session = {}};
    if (data.contains("session") && data["session"].is_string()) {
      left.session = data["session"].get<std::string>();
    }
    left.ended = reap_ == Reap::End && held->signal(SIGKILL).has_value();
    found.push_back(std::move(left));
  }

  os::ProcessIdentity server_;
  std::string boot_;
  Reap reap_;
};

}  // namespace

std::vector<LeftBehind> end_left_behind(const std::string& records_folder, Reap reap) {
  std::vector<LeftBehind> found;
  const auto boot = os::boot_id();
  std::error_code failed;
  std::filesystem::directory_iterator entry(records_folder, failed);
  for (; boot && !failed && entry != std::filesystem::directory_iterator();
       entry.increment(failed)) {
    const auto server = server_of(entry->path().filename().string());
    if (!server || !os::has_ended(*server) || !entry->is_regular_file(failed)) {
      continue;
    }
    const std::size_t before = found.size();
    Reaper(*server, *boot, reap).read(entry->path(), found);
    const bool all_ended =
        std::all_of(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                    [](const LeftBehind& one) { return one.ended; });
    if (reap == Reap::End && all_ended) {
      ::unlink(entry->path().c_str());
    }
  }
  return found;
}

}  // namespace bawn::cli
