// File agents: each speaks with the server over a stream of its own, whose bytes the relay only
// moves. What it does itself is what the server does on its own machine with the descriptors that
// it gets: it ends an agent that hangs, and sets attributes of a file that an agent has passed.
#include "kept_attributes.hpp"
#include "relay.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden::relay {

namespace {

bool refuse(std::uint32_t request, Step step, int errnum) noexcept {
  const std::uint32_t payload[3] = {static_cast<std::uint32_t>(wire::Type::Refused),
                                    static_cast<std::uint32_t>(step),
                                    static_cast<std::uint32_t>(errnum)};
  return tell(Type::Answer, request, payload, sizeof payload);
}

/// Keeps the first descriptor of a message in place of the one before.
void take_passed(Stream& stream, const msghdr& message) noexcept {
  const cmsghdr* const part = CMSG_FIRSTHDR(&message);
  if (part == nullptr || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
    return;
  }
  const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t at = 0; at < count; ++at) {
    int fd = kNoFd;
    memcpy(&fd, CMSG_DATA(part) + at * sizeof fd, sizeof fd);
    if (at > 0) {
      close(fd);
      continue;
    }
    if (stream.passed >= 0) {
      close(stream.passed);
    }
    stream.passed = fd;
  }
}

/// The agent may be in other hands: only what it could write itself.
bool is_written_file(int fd) noexcept {
  struct stat status = {};
  const int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_WRONLY && (flags & O_PATH) == 0 &&
         fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

bool start_agent(std::uint32_t id, const unsigned char* payload, std::size_t size) noexcept {
  std::uint32_t number = 0;
  if (size < sizeof number) {
    return false;
  }
  memcpy(&number, payload, sizeof number);
  Session* const session = find_session(number);
  if (session == nullptr || session->stream < 0) {
    return refuse(id, Step::ParentDeath, ESRCH);
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return refuse(id, Step::Descriptors, errno);
  }
  Stream* const stream = fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0
                             ? add_stream(id, number, ends[0], true, true)
                             : nullptr;
  if (stream == nullptr) {
    close(ends[0]);
    close(ends[1]);
    return refuse(id, Step::Descriptors, EMFILE);
  }
  stream->of_agent = true;
  // A warden that is gone shows at its stream, and the server hears of it from there.
  const bool sent = send_frame(session->stream, wire::Type::Agent, id, payload + sizeof number,
                               size - sizeof number, ends[1]);
  close(ends[1]);
  if (!sent) {
    drop_stream(id);
  }
  return sent || refuse(id, Step::ParentDeath, ESRCH);
}

void agent_started(std::uint32_t id, int& pidfd) noexcept {
  Stream* const stream = find_stream(id);
  if (stream == nullptr || !stream->of_agent || stream->agent >= 0) {
    return;
  }
  stream->agent = pidfd;
  pidfd = kNoFd;
  if (stream->end_heard) {
    end_agent(*stream);
  }
}

bool agent_refused(std::uint32_t id) noexcept {
  const Stream* const stream = find_stream(id);
  const bool found = stream != nullptr && stream->of_agent;
  if (found) {
    drop_stream(id);
  }
  return found;
}

ssize_t read_agent(Stream& stream, void* buffer, std::size_t size) noexcept {
  iovec part = {buffer, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * wire::kMaxFds)];
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t count = recvmsg(stream.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count >= 0) {
    take_passed(stream, message);
  }
  return count;
}

bool set_attributes(std::uint32_t request, const unsigned char* payload,
                    std::size_t size) noexcept {
  wire::Reader in(payload, size);
  Stream* const stream = find_stream(in.u32());
  const std::uint32_t count = in.count(12);
  const int file = stream == nullptr ? kNoFd : stream->passed;
  int errnum = is_written_file(file) ? 0 : EBADF;
  for (std::uint32_t at = 0; at < count && in.ok(); ++at) {
    const char* const name = in.text();
    const std::size_t length = in.u32();
    const unsigned char* const value = in.bytes(length + 1);
    if (!in.ok() || errnum == EBADF) {
      continue;
    }
    const bool set =
        is_kept_attribute(name) && fsetxattr(file, name, value, length, XATTR_CREATE) == 0;
    const int why = is_kept_attribute(name) ? errno : EPERM;
    errnum = set || errnum != 0 ? errnum : why;
  }
  if (file >= 0) {
    close(file);
    stream->passed = kNoFd;
  }
  return in.finished() && tell_done(request, errnum);
}

void end_agent(Stream& stream) noexcept {
  if (stream.agent >= 0) {
    (void)syscall(SYS_pidfd_send_signal, stream.agent, SIGKILL, nullptr, 0);
    close(stream.agent);
    stream.agent = kNoFd;
  }
  if (stream.passed >= 0) {
    close(stream.passed);
    stream.passed = kNoFd;
  }
}

}  // namespace bawn::sandbox::warden::relay
