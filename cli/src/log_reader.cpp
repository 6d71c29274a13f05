#include "log_reader.hpp"

#include "bawn/os/procfs.hpp"
#include "server_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace bawn::cli {
namespace {

using contract::Error;
using contract::Json;
using contract::Result;

std::string read_from(int fd, std::uint64_t offset) {
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t got =
        ::pread(fd, part.data(), part.size(), static_cast<off_t>(offset + text.size()));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return text;
    }
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

std::int64_t time_of(const Json& line) {
  const auto found = line.find("time_ms");
  return found != line.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text_of(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

void LogReader::read_file(const std::string& path, const os::ProcessIdentity& server,
                          std::vector<Json>& lines) {
  const os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found{};
  if (!fd.is_open() || ::fstat(fd.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return;
  }
  std::uint64_t& offset = offsets_[found.st_ino];
  if (offset > static_cast<std::uint64_t>(found.st_size)) {
    offset = 0;  // another file under the number of one that went
  }
  const std::string text = read_from(fd.get(), offset);
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    auto line = contract::parse_json(std::string_view(text).substr(at, end - at));
    if (line && line->is_object()) {
      (*line)["server_pid"] = server.pid;
      (*line)["server_start_time"] = server.start_time;
      lines.push_back(std::move(*line));
    }
    at = end + 1;
  }
  offset += at;
}

std::vector<Json> LogReader::read_new() {
  std::vector<Json> lines;
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder_, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    if (const auto server = server_of(entry->path().filename().string())) {
      read_file(entry->path().string(), *server, lines);
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Json& a, const Json& b) { return time_of(a) < time_of(b); });
  return lines;
}

Result<> LogReader::wait() {
  if (!watch_.is_open()) {
    watch_ = os::UniqueFd(::inotify_init1(IN_CLOEXEC));
    if (!watch_.is_open() ||
        ::inotify_add_watch(watch_.get(), folder_.c_str(), IN_MODIFY | IN_CREATE) < 0) {
      return std::unexpected(
          Error::from_errno(errno, "inotify", fmt::format("cannot follow {}", folder_)));
    }
    return {};  // what came before the watch stood is read first
  }
  std::array<char, 4096> events{};
  if (::read(watch_.get(), events.data(), events.size()) < 0 && errno != EINTR) {
    return std::unexpected(
        Error::from_errno(errno, "read", fmt::format("cannot follow {}", folder_)));
  }
  return {};
}

std::vector<Json> merge_calls(const std::vector<Json>& lines) {
  std::vector<Json> merged;
  std::map<std::string, std::size_t> running;
  for (const Json& line : lines) {
    const std::string call = text_of(line, "call");
    const std::string key = fmt::format("{} {}", line.value("server_pid", 0), call);
    const auto known = running.find(key);
    if (call.empty() || known == running.end()) {
      if (!call.empty() && text_of(line, "state") == "running") {
        running.emplace(key, merged.size());
      }
      merged.push_back(line);
      continue;
    }
    Json& entry = merged[known->second];
    for (const auto& [name, value] : line.items()) {
      if (name != "time_ms" && name != "tool") {
        entry[name] = value;
      }
    }
  }
  return merged;
}

void mark_lost(std::vector<Json>& merged) {
  const auto boot = os::boot_id();
  for (Json& line : merged) {
    if (text_of(line, "state") != "running") {
      continue;
    }
    const os::ProcessIdentity server{line.value("server_pid", 0),
                                     line.value("server_start_time", std::uint64_t{0})};
    const auto record = line.find("record");
    const std::string recorded =
        record != line.end() && record->is_object() ? text_of(*record, "boot_id") : std::string();
    const bool other_boot = boot && !recorded.empty() && recorded != *boot;
    if (other_boot || os::has_ended(server)) {
      line["state"] = "lost";
    }
  }
}

}  // namespace bawn::cli
