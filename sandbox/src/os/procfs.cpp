#include "bawn/os/procfs.hpp"

#include "bawn/os/unique_fd.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

namespace bawn::os {

namespace {

using contract::ErrorCode;
using contract::fail;

/// Field `number` (counted from 1) of a stat line; the name in field 2 may hold blanks and
/// parentheses, so counting starts behind the last ')'.
contract::Result<std::uint64_t> stat_field(int pid, int number) {
  const std::string text = BAWN_TRY(read_proc_file(fmt::format("/proc/{}/stat", pid)));
  std::size_t at = text.rfind(')');
  for (int field = 3; at != std::string::npos && field <= number; ++field) {
    at = text.find_first_of(' ', at + 1);
  }
  std::uint64_t value = 0;
  if (at == std::string::npos ||
      std::from_chars(text.data() + at + 1, text.data() + text.size(), value).ec != std::errc()) {
    return fail(ErrorCode::Internal, fmt::format("/proc/{}/stat is not as proc(5) says", pid));
  }
  return value;
}

std::vector<int> numbers_in(std::string_view text) {
  std::vector<int> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    int value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error == std::errc()) {
      numbers.push_back(value);
      at = next;
    } else {
      ++at;
    }
  }
  return numbers;
}

}  // namespace

contract::Result<std::string> read_proc_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) {
    return std::unexpected(contract::Error::from_errno(errno, "open", path));
  }
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count == 0) {
      return text;
    }
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (errno == ESRCH) {
      return fail(ErrorCode::NotFound, path + ": the process has ended");
    } else if (errno != EINTR) {
      return std::unexpected(contract::Error::from_errno(errno, "read", path));
    }
  }
}

contract::Result<char> process_state(int pid) {
  const std::string text = BAWN_TRY(read_proc_file(fmt::format("/proc/{}/stat", pid)));
  const std::size_t at = text.rfind(')');
  if (at == std::string::npos || at + 2 >= text.size()) {
    return fail(ErrorCode::Internal, fmt::format("/proc/{}/stat is not as proc(5) says", pid));
  }
  return text[at + 2];
}

contract::Result<std::uint64_t> cpu_ticks(int pid) {
  const std::uint64_t user = BAWN_TRY(stat_field(pid, 14));
  return user + BAWN_TRY(stat_field(pid, 15));
}

contract::Result<std::uint64_t> start_time(int pid) {
  return stat_field(pid, 22);
}

contract::Result<int> parent_pid(int pid) {
  return static_cast<int>(BAWN_TRY(stat_field(pid, 4)));
}

contract::Result<std::string> boot_id() {
  std::string text = BAWN_TRY(read_proc_file("/proc/sys/kernel/random/boot_id"));
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

contract::Result<std::vector<int>> namespace_pids(int pid) {
  const std::string text = BAWN_TRY(read_proc_file(fmt::format("/proc/{}/status", pid)));
  constexpr std::string_view kKey = "\nNSpid:";
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) {
    return fail(ErrorCode::Unsupported, "this kernel does not tell NSpid");
  }
  const std::size_t from = at + kKey.size();
  return numbers_in(std::string_view(text).substr(from, text.find('\n', from) - from));
}

std::vector<int> children(int pid) {
  std::vector<int> found;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  DIR* const directory = ::opendir(tasks.c_str());
  if (directory == nullptr) {
    return found;
  }
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.') {
      if (const auto text = read_proc_file(fmt::format("{}/{}/children", tasks, entry->d_name))) {
        const std::vector<int> some = numbers_in(*text);
        found.insert(found.end(), some.begin(), some.end());
      }
    }
  }
  (void)::closedir(directory);
  return found;
}

std::vector<int> descendants(int pid) {
  std::vector<int> found = children(pid);
  for (std::size_t at = 0; at < found.size(); ++at) {
    const std::vector<int> next = children(found[at]);
    found.insert(found.end(), next.begin(), next.end());
  }
  return found;
}

}  // namespace bawn::os
