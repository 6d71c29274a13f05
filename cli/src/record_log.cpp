#include "record_log.hpp"

#include "bawn/contract/json.hpp"
#include "bawn/os/procfs.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

namespace bawn::cli {
namespace {

using contract::Error;
using contract::Result;

Result<os::UniqueFd> open_log(const std::string& path) {
  os::UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.is_open()) {
    return std::unexpected(Error::from_errno(errno, "open", fmt::format("cannot write {}", path)));
  }
  return fd;
}

}  // namespace

Result<std::shared_ptr<RecordLog>> RecordLog::open(const std::string& runtime_dir) {
  const std::string folder = runtime_dir + "/records";
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return std::unexpected(
        Error::from_errno(errno, "mkdir", fmt::format("cannot make {}", folder)));
  }
  const std::uint64_t started = BAWN_TRY(os::start_time(::getpid()));
  std::string path = fmt::format("{}/{}-{}.jsonl", folder, ::getpid(), started);
  os::UniqueFd fd = BAWN_TRY(open_log(path));
  return std::shared_ptr<RecordLog>(new RecordLog(std::move(path), std::move(fd)));
}

RecordLog::RecordLog(std::string path, os::UniqueFd fd)
    : path_(std::move(path)), fd_(std::move(fd)) {}

RecordLog::~RecordLog() {
  ::unlink(path_.c_str());
  ::unlink((path_ + ".1").c_str());
}

Result<> RecordLog::append(const contract::Record& record) {
  const std::string line =
      contract::dump_json({{"namespace", record.name_space}, {"data", record.data}}) + "\n";
  const std::lock_guard lock(mutex_);
  if (bytes_ > kMaxBytes) {
    BAWN_TRY(begin_anew());
  }
  ssize_t written = 0;
  do {
    written = ::write(fd_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) {
    return std::unexpected(
        Error::from_errno(errno, "write", fmt::format("cannot write {}", path_)));
  }
  if (static_cast<std::size_t>(written) != line.size()) {
    // A line cut by a full disk would hide the next one behind it.
    return contract::fail(contract::ErrorCode::ResourceExhausted,
                          fmt::format("cannot write {}: no space for a whole record", path_));
  }
  bytes_ += line.size();
  return {};
}

Result<> RecordLog::begin_anew() {
  if (::rename(path_.c_str(), (path_ + ".1").c_str()) != 0) {
    return std::unexpected(
        Error::from_errno(errno, "rename", fmt::format("cannot move {}", path_)));
  }
  fd_ = BAWN_TRY(open_log(path_));
  bytes_ = 0;
  return {};
}

}  // namespace bawn::cli
