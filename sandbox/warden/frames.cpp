#include "warden.hpp"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

bool send_rest(int stream, const unsigned char* data, std::size_t length) noexcept {
  while (length > 0) {
    const ssize_t count = send(stream, data, length, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) {
      return false;
    }
    const std::size_t done = count > 0 ? static_cast<std::size_t>(count) : 0;
    data += done;
    length -= done;
  }
  return true;
}

void take_descriptors(const msghdr& message, int (&fds)[wire::kMaxFds]) noexcept {
  std::size_t taken = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&message), part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t at = 0; at < count && taken < wire::kMaxFds; ++at) {
      memcpy(&fds[taken++], CMSG_DATA(part) + at * sizeof(int), sizeof(int));
    }
  }
}

}  // namespace

bool send_frame(int stream, wire::Type type, std::uint32_t id, const void* payload,
                std::size_t length, int fd) noexcept {
  return send_frame_with(stream, type, id, payload, length, &fd, fd >= 0 ? 1 : 0);
}

bool send_frame_with(int stream, wire::Type type, std::uint32_t id, const void* payload,
                     std::size_t length, const int* fds, std::size_t fd_count) noexcept {
  wire::Header header = {static_cast<std::uint32_t>(type), id, static_cast<std::uint32_t>(length)};
  iovec parts[2] = {{&header, sizeof header}, {const_cast<void*>(payload), length}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * wire::kMaxFds)] = {};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = length > 0 ? 2 : 1;
  if (fd_count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
    memcpy(CMSG_DATA(part), fds, sizeof(int) * fd_count);
  }
  ssize_t count = 0;
  do {
    count = sendmsg(stream, &message, MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    return false;
  }
  // A stream may take less than it was given; the descriptor went with the first byte.
  auto done = static_cast<std::size_t>(count);
  if (done < sizeof header) {
    if (!send_rest(stream, reinterpret_cast<unsigned char*>(&header) + done,
                   sizeof header - done)) {
      return false;
    }
    done = sizeof header;
  }
  done -= sizeof header;
  return send_rest(stream, static_cast<const unsigned char*>(payload) + done, length - done);
}

bool receive_bytes(int stream, void* buffer, std::size_t length) noexcept {
  auto* at = static_cast<unsigned char*>(buffer);
  while (length > 0) {
    const ssize_t count = recv(stream, at, length, MSG_WAITALL);
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return false;
    }
    const std::size_t done = count > 0 ? static_cast<std::size_t>(count) : 0;
    at += done;
    length -= done;
  }
  return true;
}

bool receive_header(int stream, wire::Header& header, int (&fds)[wire::kMaxFds]) noexcept {
  for (int& fd : fds) {
    fd = -1;
  }
  iovec part = {&header, sizeof header};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * wire::kMaxFds)];
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t count = 0;
  do {
    count = recvmsg(stream, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) {
    return false;
  }
  take_descriptors(message, fds);
  const auto done = static_cast<std::size_t>(count);
  return receive_bytes(stream, reinterpret_cast<unsigned char*>(&header) + done,
                       sizeof header - done) &&
         header.length <= wire::kMaxPayload;
}

void send_failure(int stream, const Failure& failure) noexcept {
  const std::uint32_t payload[3] = {static_cast<std::uint32_t>(failure.step),
                                    static_cast<std::uint32_t>(failure.errnum), failure.index};
  (void)send_frame(stream, wire::Type::SetupFailed, 0, payload, sizeof payload, -1);
}

void Packer::u32(std::uint32_t value) noexcept {
  if (capacity - size < sizeof value) {
    full = true;
    return;
  }
  memcpy(data + size, &value, sizeof value);
  size += sizeof value;
}

void Packer::u64(std::uint64_t value) noexcept {
  if (capacity - size < sizeof value) {
    full = true;
    return;
  }
  memcpy(data + size, &value, sizeof value);
  size += sizeof value;
}

void Packer::text(const char* value, std::size_t length) noexcept {
  const std::size_t padded = length + 4 - length % 4;
  if (capacity - size < sizeof(std::uint32_t) + padded) {
    full = true;
    return;
  }
  u32(static_cast<std::uint32_t>(length));
  memcpy(data + size, value, length);
  memset(data + size + length, 0, padded - length);
  size += padded;
}

}  // namespace bawn::sandbox::warden
