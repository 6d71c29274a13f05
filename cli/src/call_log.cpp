#include "call_log.hpp"

#include "bawn/contract/record.hpp"
#include "bawn/contract/wrap.hpp"
#include "server_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace bawn::cli {
namespace {

using contract::Json;
using contract::Result;

/// The members of a result's structure that say how a call went and nothing that it printed.
constexpr std::array kTaken = {"call",      "session",         "state",      "reason",
                               "exit_code", "signal",          "stopped_by", "denials",
                               "record",    "shell_restarted", "duration_ms"};

/// Milliseconds since the epoch.
std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void take_from(const Json& structure, Json& line) {
  for (const char* name : kTaken) {
    const auto found = structure.find(name);
    if (found != structure.end() && !found->is_null() && !(found->is_array() && found->empty())) {
      line[name] = *found;
    }
  }
}

Json line_of(const contract::Tool& tool, const contract::Outcome& outcome, std::int64_t began) {
  Json line = {{"time_ms", began}, {"tool", tool.definition().name}};
  const auto& structure = outcome.result.structured;
  if (structure && structure->is_object()) {
    take_from(*structure, line);
  }
  if (!line.contains("duration_ms")) {
    line["duration_ms"] = now_ms() - began;
  }
  if (outcome.error) {
    line["error"] = contract::to_string(outcome.error->code());
  }
  if (const auto record = contract::record_of(outcome.result.details.get()); record && *record) {
    line["record"] = (*record)->data;
  }
  if (const auto& report = outcome.result.confinement) {
    line["confined"] = report->confined;
    line["by"] = report->by;
    line["policy"] = report->policy;
    line["policy_id"] = report->policy_id;
  }
  return line;
}

/// Files of servers that still run are not counted and stay.
void keep_newest(const std::string& folder, std::size_t count) {
  std::error_code failed;
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
  std::filesystem::directory_iterator entry(folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const auto server = server_of(entry->path().filename().string());
    if (server && os::has_ended(*server)) {
      files.emplace_back(entry->last_write_time(failed), entry->path());
    }
  }
  std::sort(files.begin(), files.end(), std::greater<>());
  for (std::size_t i = count; i < files.size(); ++i) {
    ::unlink(files[i].second.c_str());
  }
}

}  // namespace

Result<std::shared_ptr<CallLog>> CallLog::open(const std::string& runtime_dir) {
  const std::string folder = runtime_dir + "/log";
  std::string path = BAWN_TRY(own_file_in(folder));
  keep_newest(folder, kKeptFiles);
  auto lines = BAWN_TRY(JsonLines::open(std::move(path), kMaxBytes));
  return std::shared_ptr<CallLog>(new CallLog(std::move(lines)));
}

Result<contract::ToolPtr> logged(contract::ToolPtr tool, std::shared_ptr<CallLog> log) {
  return contract::wrap(std::move(tool), [log = std::move(log)](const contract::Context& context,
                                                                const contract::Call& call,
                                                                const contract::Tool& inner) {
    const std::int64_t began = now_ms();
    contract::Outcome outcome = inner.execute(context, call);
    std::ignore = log->append(line_of(inner, outcome, began));
    return outcome;
  });
}

}  // namespace bawn::cli
