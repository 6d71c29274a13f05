#include "json_lines.hpp"

#include "bawn/os/process_identity.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace bawn::cli {
namespace {

using contract::Error;
using contract::Result;

Result<os::UniqueFd> open_to_append(const std::string& path) {
  os::UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.is_open()) {
    return std::unexpected(Error::from_errno(errno, "open", fmt::format("cannot write {}", path)));
  }
  return fd;
}

}  // namespace

Result<std::unique_ptr<JsonLines>> JsonLines::open(std::string path, std::uint64_t max_bytes) {
  os::UniqueFd fd = BAWN_TRY(open_to_append(path));
  return std::unique_ptr<JsonLines>(new JsonLines(std::move(path), max_bytes, std::move(fd)));
}

JsonLines::JsonLines(std::string path, std::uint64_t max_bytes, os::UniqueFd fd)
    : path_(std::move(path)), max_bytes_(max_bytes), fd_(std::move(fd)) {}

Result<> JsonLines::append(const contract::Json& value) {
  std::string line = contract::dump_json(value) + "\n";
  const std::lock_guard lock(mutex_);
  if (torn_) {
    line.insert(0, 1, '\n');  // so that only the cut line is lost
  }
  if (bytes_ > max_bytes_) {
    BAWN_TRY(begin_anew());
  }
  ssize_t written = 0;
  do {
    written = ::write(fd_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  torn_ = written > 0 ? static_cast<std::size_t>(written) != line.size() : torn_;
  if (written < 0) {
    return std::unexpected(
        Error::from_errno(errno, "write", fmt::format("cannot write {}", path_)));
  }
  if (static_cast<std::size_t>(written) != line.size()) {
    return contract::fail(contract::ErrorCode::ResourceExhausted,
                          fmt::format("cannot write {}: no space for a whole line", path_));
  }
  bytes_ += line.size();
  return {};
}

Result<> JsonLines::begin_anew() {
  if (::rename(path_.c_str(), (path_ + ".1").c_str()) != 0) {
    return std::unexpected(
        Error::from_errno(errno, "rename", fmt::format("cannot move {}", path_)));
  }
  fd_ = BAWN_TRY(open_to_append(path_));
  bytes_ = 0;
  torn_ = false;
  return {};
}

void JsonLines::remove() noexcept {
  ::unlink(path_.c_str());
  ::unlink((path_ + ".1").c_str());
}

Result<std::string> own_file_in(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return std::unexpected(
        Error::from_errno(errno, "mkdir", fmt::format("cannot make {}", folder)));
  }
  return fmt::format("{}/{}.jsonl", folder, os::to_string(BAWN_TRY(os::own_identity())));
}

}  // namespace bawn::cli
