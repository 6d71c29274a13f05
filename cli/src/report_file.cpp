#include "report_file.hpp"

#include "bawn/contract/json.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace bawn::cli {

using contract::Error;
using contract::Result;

Result<ReportFile> ReportFile::open(const std::string& path) {
  ReportFile file;
  file.path_ = path;
  if (path.empty()) {
    return file;
  }
  // The path may lie where an earlier command could write: a link would lead us to overwrite what
  // it chose, a FIFO would hold us for ever.
  file.fd_.reset(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));
  if (!file.fd_.is_open()) {
    return std::unexpected(
        Error::from_errno(errno, "open", fmt::format("cannot write the report to {}", path)));
  }
  struct stat found{};
  if (::fstat(file.fd_.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return contract::fail(
        contract::ErrorCode::InvalidArgument,
        fmt::format("cannot write the report to {}: it is no regular file", path));
  }
  if (::ftruncate(file.fd_.get(), 0) != 0) {
    return std::unexpected(
        Error::from_errno(errno, "ftruncate", fmt::format("cannot write the report to {}", path)));
  }
  return file;
}

Result<> ReportFile::write(const contract::Json& report) {
  if (!fd_.is_open()) {
    return {};
  }
  const std::string text = contract::dump_json(report) + "\n";
  if (::lseek(fd_.get(), 0, SEEK_SET) != 0 || ::ftruncate(fd_.get(), 0) != 0) {
    return std::unexpected(
        Error::from_errno(errno, "ftruncate", fmt::format("cannot write the report to {}", path_)));
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return std::unexpected(
          Error::from_errno(errno, "write", fmt::format("cannot write the report to {}", path_)));
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace bawn::cli
