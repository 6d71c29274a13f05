#include "report_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace bawn::cli {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

std::unexpected<Error> failed(const char* call, const std::string& path) {
  return std::unexpected(
      Error::from_errno(errno, call, fmt::format("cannot write the report to {}", path)));
}

Result<> write_all(int fd, std::string_view rest, const std::string& path) {
  while (!rest.empty()) {
    const ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) {
      return failed("write", path);
    }
    rest.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return {};
}

}  // namespace

Result<ReportFile> ReportFile::open(const std::string& path) {
  ReportFile file;
  file.path_ = path;
  if (path.empty()) {
    return file;
  }
  const std::filesystem::path whole(path);
  file.name_ = whole.filename();
  file.folder_ = whole.has_parent_path() ? whole.parent_path().string() : ".";
  file.directory_.reset(::open(file.folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!file.directory_.is_open()) {
    return failed("open", path);
  }
  // A name where an earlier command could write may be its link, FIFO or directory.
  struct stat found{};
  const bool there =
      ::fstatat(file.directory_.get(), file.name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  if (file.name_.empty() || (there && !S_ISREG(found.st_mode))) {
    return contract::fail(
        ErrorCode::InvalidArgument,
        fmt::format("cannot write the report to {}: it is no regular file", path));
  }
  return file;
}

Result<> ReportFile::check_directory() const {
  struct stat held{};
  struct stat named{};
  if (::fstat(directory_.get(), &held) != 0 || ::stat(folder_.c_str(), &named) != 0) {
    return failed("stat", path_);
  }
  return held.st_dev == named.st_dev && held.st_ino == named.st_ino
             ? Result<>()
             : contract::fail(ErrorCode::Busy,
                              fmt::format("cannot write the report to {}: its directory was put "
                                          "elsewhere meanwhile; a report that is there now is not "
                                          "ours",
                                          path_));
}

Result<> ReportFile::write(const contract::Json& report) const {
  if (!is_wanted()) {
    return {};
  }
  BAWN_TRY(check_directory());
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    return failed("getrandom", path_);
  }
  const std::string fresh = fmt::format(".bawn-report-{:016x}", number);
  const int directory = directory_.get();
  os::UniqueFd file(
      ::openat(directory, fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    return failed("open", path_);
  }
  Result<> written = write_all(file.get(), contract::dump_json(report) + "\n", path_);
  if (written && ::renameat(directory, fresh.c_str(), directory, name_.c_str()) != 0) {
    written = failed("rename", path_);
  }
  if (!written) {
    (void)::unlinkat(directory, fresh.c_str(), 0);
  }
  return written;
}

}  // namespace bawn::cli
