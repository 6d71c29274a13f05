// Starting processes: the relay makes what the server would make on its own machine (pipes or a
// terminal, and the go socket) and passes it to the warden.
#include "procfs.hpp"
#include "relay.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden::relay {

Child children[kMaxChildren];

namespace {

int proc_directory() noexcept {
  static const int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd;
}

Child* find_child(std::uint32_t id) noexcept {
  for (Child& child : children) {
    if (id != 0 && child.id == id) {
      return &child;
    }
  }
  return nullptr;
}

Child* free_place() noexcept {
  for (Child& child : children) {
    if (child.id == 0) {
      return &child;
    }
  }
  return nullptr;
}

void free_child(Child& child) noexcept {
  if (child.go >= 0) {
    close(child.go);
  }
  child = Child{};
}

/// What a spawn request says before the warden's own payload.
struct Order {
  std::uint32_t session = 0;
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t error = 0;
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
};
constexpr std::size_t kOrderSize = 6 * sizeof(std::uint32_t);

/// The descriptors for the warden, in its order; the last one is go.
struct Passed {
  int fds[wire::kMaxFds] = {kNoFd, kNoFd, kNoFd, kNoFd};
  std::size_t count = 0;
  void add(int fd) noexcept { fds[count++] = fd; }
  void close_all() noexcept {
    for (std::size_t at = 0; at < count; ++at) {
      if (fds[at] >= 0) {
        close(fds[at]);
      }
    }
  }
};

/// A pipe of which the process gets one end and we the other, which does not block.
bool make_pipe(std::uint32_t id, std::uint32_t session, bool input, Passed& passed) noexcept {
  if (id == 0) {
    return true;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return false;
  }
  const int ours = input ? ends[1] : ends[0];
  passed.add(input ? ends[0] : ends[1]);
  if (fcntl(ours, F_SETFL, O_NONBLOCK) == 0 &&
      add_stream(id, session, ours, !input, input) != nullptr) {
    return true;
  }
  close(ours);
  errno = errno == 0 ? EMFILE : errno;
  return false;
}

bool make_terminal(const Order& order, Passed& passed) noexcept {
  const int outer = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (outer < 0) {
    return false;
  }
  winsize size = {};
  size.ws_col = static_cast<unsigned short>(order.columns);
  size.ws_row = static_cast<unsigned short>(order.rows);
  // By the outer end itself, not by name (Linux 4.13).
  const int inner = grantpt(outer) == 0 && unlockpt(outer) == 0
                        ? ioctl(outer, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)
                        : -1;
  if (inner < 0 || ioctl(outer, TIOCSWINSZ, &size) != 0 || fcntl(outer, F_SETFL, O_NONBLOCK) != 0 ||
      add_stream(order.input, order.session, outer, true, true) == nullptr) {
    close(outer);
    if (inner >= 0) {
      close(inner);
    }
    return false;
  }
  passed.add(inner);
  passed.add(fcntl(inner, F_DUPFD_CLOEXEC, 3));
  passed.add(fcntl(inner, F_DUPFD_CLOEXEC, 3));
  return true;
}

/// The near end of the go socket; the kernel puts the child's number here beside what it says.
int make_go(Passed& passed) noexcept {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return kNoFd;
  }
  const int yes = 1;
  (void)setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
  passed.add(ends[1]);
  return ends[0];
}

bool refuse(std::uint32_t request, Step step, int errnum) noexcept {
  const std::uint32_t payload[3] = {static_cast<std::uint32_t>(wire::Type::Refused),
                                    static_cast<std::uint32_t>(step),
                                    static_cast<std::uint32_t>(errnum)};
  return tell(Type::Answer, request, payload, sizeof payload);
}

void drop_streams(const Order& order) noexcept {
  drop_stream(order.input);
  drop_stream(order.output);
  drop_stream(order.error);
}

bool answer_spawned(Child& child) noexcept {
  child.answered = true;
  std::uint32_t payload[4] = {static_cast<std::uint32_t>(child.inside), 0, 0,
                              static_cast<std::uint32_t>(child.chdir_errno)};
  memcpy(payload + 1, &child.start_time, sizeof child.start_time);
  return tell(Type::Spawned, child.id, payload, sizeof payload);
}

/// The sender's number as this PID namespace has it, from the credentials beside a message.
pid_t sender_of(const msghdr& message) noexcept {
  const cmsghdr* const part = CMSG_FIRSTHDR(&message);
  if (part == nullptr || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) {
    return 0;
  }
  ucred sender = {};
  memcpy(&sender, CMSG_DATA(part), sizeof sender);
  return sender.pid;
}

}  // namespace

bool spawn_child(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept {
  if (size < kOrderSize || find_child(request) != nullptr) {
    return false;
  }
  Order order;
  memcpy(&order, payload, kOrderSize);
  Session* const session = find_session(order.session);
  if (session == nullptr || session->stream < 0) {
    return refuse(request, Step::ParentDeath, ESRCH);
  }
  Child* const child = free_place();
  if (child == nullptr) {
    return refuse(request, Step::Process, EAGAIN);
  }
  Passed passed;
  errno = 0;
  const bool made = order.columns != 0
                        ? make_terminal(order, passed)
                        : make_pipe(order.input, order.session, true, passed) &&
                              make_pipe(order.output, order.session, false, passed) &&
                              make_pipe(order.error, order.session, false, passed);
  const int go = made ? make_go(passed) : kNoFd;
  if (go < 0) {
    const int errnum = errno != 0 ? errno : EMFILE;
    passed.close_all();
    drop_streams(order);
    return refuse(request, Step::Descriptors, errnum);
  }
  *child = Child{};
  child->id = request;
  child->session = order.session;
  child->go = go;
  child->in = order.input;
  child->out = order.output;
  child->err = order.error;
  const bool sent =
      send_frame_with(session->stream, wire::Type::Spawn, request, payload + kOrderSize,
                      size - kOrderSize, passed.fds, passed.count);
  passed.close_all();
  // A warden that is gone shows at its stream, and the server hears of it from there.
  return sent || child_refused(request);
}

bool let_go(std::uint32_t request, bool execute) noexcept {
  Child* const child = find_child(request);
  if (child == nullptr || child->go < 0 || (execute && !child->answered)) {
    return true;
  }
  if (execute) {
    (void)send(child->go, "g", 1, MSG_NOSIGNAL);
  }
  close(child->go);
  child->go = kNoFd;
  return true;
}

bool hear_child(Child& child) noexcept {
  std::int32_t errnum = 0;
  iovec part = {&errnum, sizeof errnum};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t count = recvmsg(child.go, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
    return true;
  }
  child.placed = true;
  if (count == sizeof errnum) {
    child.chdir_errno = errnum;
    Process process;
    if (read_process(proc_directory(), sender_of(message), process)) {
      child.start_time = process.start_time;
    }
  }
  return !child.spawned || answer_spawned(child);
}

bool child_spawned(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept {
  Child* const child = find_child(request);
  if (child == nullptr || size < sizeof(std::int32_t)) {
    return true;
  }
  memcpy(&child->inside, payload, sizeof(std::int32_t));
  child->spawned = true;
  return !child->placed || answer_spawned(*child);
}

bool child_refused(std::uint32_t request) noexcept {
  if (Child* const child = find_child(request)) {
    drop_stream(child->in);
    drop_stream(child->out);
    drop_stream(child->err);
    free_child(*child);
  }
  return true;
}

bool child_exited(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept {
  Child* const child = find_child(request);
  if (child == nullptr) {
    return true;
  }
  // Its end may be heard of before its own word, which was there first.
  if (!child->answered && !child->placed && child->go >= 0 && !hear_child(*child)) {
    return false;
  }
  if (!child->answered && !answer_spawned(*child)) {
    return false;
  }
  static unsigned char space[16 * kMaxStreams];
  Packer marks{space, sizeof space};
  const Child ended = *child;
  free_child(*child);
  return flush(ended.session, ended.out, ended.err, marks) &&
         tell(Type::Exited, request, marks.data, marks.size, payload, size);
}

void forget_children(std::uint32_t session) noexcept {
  for (Child& child : children) {
    if (child.id != 0 && child.session == session) {
      free_child(child);
    }
  }
}

}  // namespace bawn::sandbox::warden::relay
