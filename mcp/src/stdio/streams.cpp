#include "stdio/streams.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

Result<UniqueFd> duplicate(int fd, const char* what) {
  constexpr int kAboveStandard = 3;
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, kAboveStandard));
  if (!copy && errno == EBADF) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the {} (descriptor {}) is not open", what, fd));
  }
  if (!copy) {
    return std::unexpected(Error::from_errno(errno, "fcntl", what));
  }
  return copy;
}

/// A description of our own for a pipe, so that O_NONBLOCK does not change the one that the client
/// or a sibling holds too. The copy itself when that cannot be had (no /proc, or a pipe made by
/// another user).
UniqueFd open_output(UniqueFd copy) {
  struct stat status{};
  if (::fstat(copy.get(), &status) != 0 || !S_ISFIFO(status.st_mode)) {
    return copy;
  }
  const std::string path = fmt::format("/proc/self/fd/{}", copy.get());
  UniqueFd own(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  return own ? std::move(own) : std::move(copy);
}

Result<> redirect_standard_streams() {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) {
    return std::unexpected(Error::from_errno(errno, "open", "/dev/null"));
  }
  const bool has_stderr = ::fcntl(STDERR_FILENO, F_GETFD) >= 0;
  if (::dup2(null.get(), STDIN_FILENO) < 0 ||
      ::dup2(has_stderr ? STDERR_FILENO : null.get(), STDOUT_FILENO) < 0) {
    return std::unexpected(Error::from_errno(errno, "dup2", "redirecting the standard streams"));
  }
  return {};
}

}  // namespace

Result<Streams> open_streams(int in_fd, int out_fd, bool take_standard_streams) {
  Streams streams;
  streams.in = BAWN_TRY(duplicate(in_fd, "input"));
  streams.out = open_output(BAWN_TRY(duplicate(out_fd, "output")));
  if (take_standard_streams) {
    BAWN_TRY(redirect_standard_streams());
  }
  return streams;
}

}  // namespace bawn::mcp
