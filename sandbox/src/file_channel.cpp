#include "file_channel.hpp"

#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "passed_descriptors.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace bawn::sandbox {

namespace {

constexpr std::size_t kReadSize = std::size_t{32} << 10U;

}  // namespace

Result<std::unique_ptr<FileChannel>> FileChannel::start(WardenLink& link, std::string_view order) {
  os::SocketPair stream = BAWN_TRY(os::SocketPair::make());
  const int far = stream.far.get();
  Frame answer = BAWN_TRY(link.ask(wire::Type::Agent, order, {&far, 1}));
  return std::make_unique<FileChannel>(std::move(stream.near), os::Pidfd(std::move(answer.fd), 0));
}

FileChannel::~FileChannel() {
  // One at rest ends with its stream; one that hangs in the kernel needs this to ever end.
  if (agent_.is_open()) {
    (void)agent_.signal(SIGKILL);
  }
}

FileExchange FileChannel::exchange(file_wire::Op op, std::string_view payload, int fd,
                                   const contract::Context& context) {
  ++last_id_;
  if (!send(op, payload, fd)) {
    return {FileExchange::End::Unsent};
  }
  return receive(context);
}

bool FileChannel::send(file_wire::Op op, std::string_view payload, int fd) {
  wire::Header header{static_cast<std::uint32_t>(op), last_id_,
                      static_cast<std::uint32_t>(payload.size())};
  std::array<iovec, 2> parts{iovec{&header, sizeof header},
                             iovec{const_cast<char*>(payload.data()), payload.size()}};
  PassedDescriptors passed;
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  passed.attach(message, {&fd, fd >= 0 ? 1UL : 0UL});
  ssize_t count = 0;
  do {
    // The stream is empty between requests and takes one whole; if not, it is not in order.
    count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof header + payload.size());
}

FileExchange FileChannel::receive(const contract::Context& context) {
  for (;;) {
    if (auto done = take_frame(last_id_, true)) {
      return std::move(*done);
    }
    if (auto waited = os::wait_readable(socket_.get(), context); !waited) {
      return {FileExchange::End::Ended, {}, std::move(waited).error()};
    }
    if (!receive_some()) {
      return {FileExchange::End::Lost};
    }
  }
}

FileExchange FileChannel::exchange(std::span<const FileRequest> requests,
                                   std::vector<FileReply>& replies,
                                   const contract::Context& context) {
  std::string out;
  for (const FileRequest& request : requests) {
    const wire::Header header{static_cast<std::uint32_t>(request.op), ++last_id_,
                              static_cast<std::uint32_t>(request.payload.size())};
    out.append(reinterpret_cast<const char*>(&header), sizeof header).append(request.payload);
  }
  std::size_t sent = 0;
  for (std::size_t left = requests.size(); left > 0;) {
    const auto id = last_id_ - static_cast<std::uint32_t>(left - 1);
    if (auto done = take_frame(id, left == 1)) {
      if (done->end != FileExchange::End::Answered) {
        return *std::move(done);
      }
      replies.push_back(std::move(done->reply));
      --left;
      continue;
    }
    if (sent < out.size() && !send_some(out, sent)) {
      return {sent == 0 ? FileExchange::End::Unsent : FileExchange::End::Lost};
    }
    pollfd entry{socket_.get(), static_cast<short>(sent < out.size() ? POLLIN | POLLOUT : POLLIN),
                 0};
    if (auto waited = os::wait_events({&entry, 1}, context); !waited) {
      return {FileExchange::End::Ended, {}, std::move(waited).error()};
    }
    if (!receive_some()) {
      return {FileExchange::End::Lost};
    }
  }
  // An answer to what was not asked yet.
  return {sent < out.size() ? FileExchange::End::Malformed : FileExchange::End::Answered};
}

bool FileChannel::send_some(std::string_view bytes, std::size_t& sent) const {
  while (sent < bytes.size()) {
    const ssize_t count = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EINTR) {
      return errno == EAGAIN;
    }
    sent += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return true;
}

bool FileChannel::receive_some() {
  std::array<char, kReadSize> bytes;
  iovec part{bytes.data(), bytes.size()};
  PassedDescriptors passed;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  passed.make_room(message);
  const ssize_t count = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) {
    return errno == EAGAIN || errno == EINTR;
  }
  for (os::UniqueFd& passed_fd : PassedDescriptors::take(message)) {
    fds_.push_back(std::move(passed_fd));
  }
  buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

std::optional<FileExchange> FileChannel::take_frame(std::uint32_t id, bool last) {
  wire::Header header;
  if (buffer_.size() < sizeof header) {
    return std::nullopt;
  }
  std::memcpy(&header, buffer_.data(), sizeof header);
  const bool failed = header.type == static_cast<std::uint32_t>(file_wire::Answer::Failed);
  const bool done = header.type == static_cast<std::uint32_t>(file_wire::Answer::Done);
  const std::size_t whole = sizeof header + header.length;
  if ((!failed && !done) || header.id != id || header.length > file_wire::kMaxAnswer ||
      (last && buffer_.size() > whole) || fds_.size() > 1) {
    return FileExchange{FileExchange::End::Malformed};
  }
  if (buffer_.size() < whole) {
    return std::nullopt;
  }
  FileExchange result;
  result.reply.failed = failed;
  result.reply.payload = buffer_.substr(sizeof header, header.length);
  buffer_.erase(0, whole);
  if (!fds_.empty()) {
    result.reply.fd = std::move(fds_.front());
    fds_.clear();
  }
  return result;
}

}  // namespace bawn::sandbox
