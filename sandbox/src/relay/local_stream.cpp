#include "local_stream.hpp"

#include "relay_wire.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace bawn::sandbox {

namespace {

/// Owed credit is given back in such parts, so that not each line costs a frame.
constexpr std::uint64_t kCreditPart = relay_wire::kOutputWindow / 8;

}  // namespace

contract::Result<LocalStream> LocalStream::make(std::uint32_t session, Way way, os::UniqueFd fd) {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) {
    return std::unexpected(
        contract::Error::from_errno(errno, "fstat", "cannot use a descriptor of the process"));
  }
  const bool socket = S_ISSOCK(status.st_mode);
  const bool pipe = S_ISFIFO(status.st_mode);
  if (!socket && !pipe && !S_ISREG(status.st_mode)) {
    return contract::fail(contract::ErrorCode::Unsupported,
                          "over pipes a process gets pipes, sockets or files as its standard "
                          "streams, no terminal or device of this machine");
  }
  if (pipe && ::fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected(
        contract::Error::from_errno(errno, "fcntl", "cannot use a pipe of the process"));
  }
  LocalStream stream(session, way, std::move(fd), socket);
  stream.credit_ = way == Way::Output ? 0 : relay_wire::kInputWindow;
  return stream;
}

short LocalStream::events() const noexcept {
  const int in = gives() && credit_ > 0 && !end_said ? POLLIN : 0;
  const int out = pending_bytes() > 0 ? POLLOUT : 0;
  return static_cast<short>(in | out);
}

bool LocalStream::receive(std::string_view bytes) {
  if (!takes() || output_over_ ||
      received_ - credited_ + bytes.size() > relay_wire::kOutputWindow) {
    return false;
  }
  received_ += bytes.size();
  if (!fd_.is_open()) {
    return true;
  }
  if (at_ == pending_.size()) {
    // Nothing before it: as much as goes without keeping it.
    const long count = write_some(bytes.data(), bytes.size());
    bytes.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
    pending_.clear();
    at_ = 0;
    if (count < 0 && errno != EAGAIN) {
      shut();
      return true;
    }
  }
  pending_.append(bytes);
  return true;
}

void LocalStream::deliver() {
  while (fd_.is_open() && at_ < pending_.size()) {
    const long count = write_some(pending_.data() + at_, pending_.size() - at_);
    if (count < 0) {
      if (errno != EAGAIN) {
        shut();
      }
      return;
    }
    at_ += static_cast<std::size_t>(count);
  }
  if (at_ == pending_.size()) {
    pending_.clear();
    at_ = 0;
    if (output_over_) {
      shut();
    }
  }
}

std::uint32_t LocalStream::take_owed() noexcept {
  const std::uint64_t owed = delivered() - credited_;
  if (owed < kCreditPart || end_heard || end_said) {
    return 0;
  }
  credited_ += owed;
  return static_cast<std::uint32_t>(owed);
}

std::string_view LocalStream::fetch() {
  thread_local std::array<char, relay_wire::kMaxData> bytes;
  const std::size_t room = std::min<std::size_t>(bytes.size(), credit_);
  ssize_t count = 0;
  do {
    count = socket_ ? ::recv(fd_.get(), bytes.data(), room, MSG_DONTWAIT)
                    : ::read(fd_.get(), bytes.data(), room);
  } while (count < 0 && errno == EINTR);
  if (count > 0) {
    credit_ -= static_cast<std::uint32_t>(count);
    return {bytes.data(), static_cast<std::size_t>(count)};
  }
  if (count == 0 || errno != EAGAIN) {
    shut();
  }
  return {};
}

bool LocalStream::give_credit(std::uint32_t bytes) noexcept {
  if (!gives() || bytes > relay_wire::kInputWindow - credit_) {
    return false;
  }
  credit_ += bytes;
  return true;
}

std::size_t LocalStream::waiting() const noexcept {
  int count = 0;
  return fd_.is_open() && ::ioctl(fd_.get(), FIONREAD, &count) == 0 && count > 0
             ? static_cast<std::size_t>(count)
             : 0;
}

void LocalStream::hear_end() noexcept {
  end_heard = true;
  output_over_ = true;
  if (pending_bytes() == 0) {
    shut();
  }
}

void LocalStream::shut() noexcept {
  fd_.reset();
  pending_.clear();
  at_ = 0;
}

long LocalStream::write_some(const char* bytes, std::size_t size) const noexcept {
  ssize_t count = 0;
  do {
    count = socket_ ? ::send(fd_.get(), bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                    : ::write(fd_.get(), bytes, size);
  } while (count < 0 && errno == EINTR);
  return count;
}

}  // namespace bawn::sandbox
