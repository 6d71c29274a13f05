#include "frame_stream.hpp"

#include "passed_descriptors.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace bawn::sandbox {

namespace {

// A usual answer in one read; what is larger takes several, which costs less than fresh pages for
// each.
constexpr std::size_t kReadSize = 8UL << 10U;

std::unexpected<contract::Error> gone() {
  return contract::fail(contract::ErrorCode::Closed, "the session's warden is gone");
}

}  // namespace

FrameStream::FrameStream(os::UniqueFd socket, std::chrono::milliseconds send_limit)
    : socket_(std::move(socket)) {
  const timeval limit{send_limit.count() / 1000, send_limit.count() % 1000 * 1000};
  (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

contract::Result<> FrameStream::send(wire::Type type, std::uint32_t id, std::string_view payload,
                                     std::span<const int> fds) {
  wire::Header header{static_cast<std::uint32_t>(type), id,
                      static_cast<std::uint32_t>(payload.size())};
  std::array<iovec, 2> parts{iovec{&header, sizeof header},
                             iovec{const_cast<char*>(payload.data()), payload.size()}};
  PassedDescriptors passed;
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  passed.attach(message, fds);
  const std::scoped_lock lock(sending_);
  while (message.msg_iovlen > 0) {
    const ssize_t count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      shut_down();
      return gone();
    }
    message.msg_control = nullptr;  // went with the first byte
    message.msg_controllen = 0;
    auto done = static_cast<std::size_t>(count);
    while (message.msg_iovlen > 0 && done >= message.msg_iov->iov_len) {
      done -= message.msg_iov->iov_len;
      ++message.msg_iov;
      --message.msg_iovlen;
    }
    if (message.msg_iovlen > 0) {
      message.msg_iov->iov_base = static_cast<char*>(message.msg_iov->iov_base) + done;
      message.msg_iov->iov_len -= done;
    }
  }
  return {};
}

bool FrameStream::receive_some() {
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kReadSize);
  iovec part{buffer_.data() + before, kReadSize};
  PassedDescriptors passed;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  passed.make_room(message);
  const ssize_t count = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const int errnum = errno;
  buffer_.resize(before + (count > 0 ? static_cast<std::size_t>(count) : 0));
  if (count >= 0) {
    for (os::UniqueFd& fd : PassedDescriptors::take(message)) {
      fds_.push_back(std::move(fd));
    }
  }
  return count > 0 || (count < 0 && (errnum == EAGAIN || errnum == EINTR));
}

bool FrameStream::hand_over(const std::function<void(Frame&&)>& take) {
  std::size_t at = 0;
  bool sound = true;
  while (sound && buffer_.size() - at >= sizeof(wire::Header)) {
    wire::Header header;
    std::memcpy(&header, buffer_.data() + at, sizeof header);
    sound = header.length <= wire::kMaxPayload;
    if (!sound || buffer_.size() - at - sizeof header < header.length) {
      break;
    }
    Frame frame{static_cast<wire::Type>(header.type), header.id,
                buffer_.substr(at + sizeof header, header.length), os::UniqueFd()};
    at += sizeof header + header.length;
    if (frame.type == wire::Type::Ready && !fds_.empty()) {
      frame.fd = std::move(fds_.front());
      fds_.pop_front();
    } else if (frame.type == wire::Type::Spawned) {
      sound = !fds_.empty();
      if (sound) {
        frame.fd = std::move(fds_.front());
        fds_.pop_front();
      }
    }
    if (sound) {
      take(std::move(frame));
    }
  }
  buffer_.erase(0, at);
  return sound;
}

bool FrameStream::pump(const std::function<void(Frame&&)>& take) {
  const bool open = receive_some();
  return hand_over(take) && open;
}

void FrameStream::shut_down() noexcept {
  (void)::shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace bawn::sandbox
