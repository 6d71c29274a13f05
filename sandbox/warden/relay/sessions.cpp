// Wardens: one stub with its warden for each session, started from this same program.
#include "procfs.hpp"
#include "relay.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden::relay {

Session sessions[kMaxSessions];

namespace {

unsigned char answer[wire::kMaxPayload];

bool tell_failure(std::uint32_t id, int errnum) noexcept {
  const std::uint32_t payload[3] = {static_cast<std::uint32_t>(Step::Plan),
                                    static_cast<std::uint32_t>(errnum), 0};
  return tell(Type::SetupFailed, id, payload, sizeof payload);
}

/// The plan in a file of its own, with us as the one whose death ends the stub. A plan that brings
/// descriptors back to the server cannot be carried out from here.
int store_plan(const unsigned char* plan, std::size_t size) noexcept {
  constexpr std::size_t kServerPid = 8;  // behind magic and version
  PlanView view;
  if (!read_plan(plan, size, view)) {
    errno = EPROTO;
    return kNoFd;
  }
  if (view.has(wire::kProxyListener) || view.listener_length > 0) {
    errno = EOPNOTSUPP;
    return kNoFd;
  }
  const int fd = memfd_create("bawn-plan", MFD_CLOEXEC);
  const auto self = static_cast<std::int32_t>(getpid());
  if (fd < 0 || write(fd, plan, size) != static_cast<ssize_t>(size) ||
      pwrite(fd, &self, sizeof self, kServerPid) != sizeof self) {
    return kNoFd;
  }
  return fd;
}

/// The stub's descriptors and nothing else of ours: the end of the server's pipes must be seen.
[[noreturn]] void become_stub(int plan, int stream) noexcept {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int moved_plan = fcntl(plan, F_DUPFD_CLOEXEC, 32);
  const int moved_stream = fcntl(stream, F_DUPFD_CLOEXEC, 32);
  for (int number = 0; number <= 2; ++number) {
    if (null < 0 || dup3(null, number, O_CLOEXEC) < 0) {
      _exit(1);
    }
  }
  umask(given_umask);
  sigset_t none;
  sigemptyset(&none);
  if (dup3(moved_plan, wire::kPlanFd, O_CLOEXEC) < 0 ||
      dup3(moved_stream, wire::kStreamFd, O_CLOEXEC) < 0 ||
      syscall(SYS_close_range, wire::kStreamFd + 1U, ~0U, 0U) != 0 ||
      sigprocmask(SIG_SETMASK, &none, nullptr) != 0) {
    _exit(1);
  }
  // Its identity maps are written by a stub that can be looked at; it drops that itself.
  (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  run_stub(wire::kPlanFd, wire::kStreamFd);
}

bool tell_ready(const Session& session, const unsigned char* payload, std::size_t size) noexcept {
  std::uint64_t started = 0;
  std::int32_t pid = 0;
  if (size >= 8) {
    memcpy(&pid, payload + 4, sizeof pid);
    const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    Process process;
    if (read_process(proc, pid, process)) {
      started = process.start_time;
    }
    close(proc);
  }
  return tell(Type::Ready, session.id, &started, sizeof started, payload, size);
}

bool pass_on(const Session& session, const wire::Header& header) noexcept {
  switch (static_cast<wire::Type>(header.type)) {
    case wire::Type::Ready:
      return tell_ready(session, answer, header.length);
    case wire::Type::SetupFailed:
      return tell(Type::SetupFailed, session.id, answer, header.length);
    case wire::Type::Spawned:
      if (const Stream* const stream = find_stream(header.id);
          stream != nullptr && stream->of_agent) {
        break;
      }
      return child_spawned(header.id, answer, header.length);
    case wire::Type::Exited:
      return child_exited(header.id, answer, header.length);
    case wire::Type::Refused:
      if (!agent_refused(header.id) && !child_refused(header.id)) {
        return false;
      }
      break;
    default:
      break;
  }
  return tell(Type::Answer, header.id, &header.type, sizeof header.type, answer, header.length);
}

bool lose(Session& session) noexcept {
  const std::uint32_t id = session.id;
  session = Session{};
  forget_children(id);
  return end_streams(id) && tell(Type::Lost, id, nullptr, 0);
}

/// The stub is collected and nothing more will come.
bool settle(Session& session) noexcept {
  return session.stub != 0 || session.stream >= 0 || lose(session);
}

}  // namespace

Session* find_session(std::uint32_t id) noexcept {
  for (Session& session : sessions) {
    if (id != 0 && session.id == id) {
      return &session;
    }
  }
  return nullptr;
}

bool open_session(std::uint32_t id, const unsigned char* plan, std::size_t size) noexcept {
  Session* place = nullptr;
  for (Session& session : sessions) {
    place = place == nullptr && session.id == 0 ? &session : place;
  }
  if (id == 0 || find_session(id) != nullptr) {
    return false;
  }
  if (place == nullptr) {
    return tell_failure(id, EAGAIN);
  }
  const int stored = store_plan(plan, size);
  int ends[2] = {kNoFd, kNoFd};
  if (stored < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    const int errnum = errno;
    close(stored);
    return tell_failure(id, errnum);
  }
  // A fork that the C library does not know of, as in stub.cpp.
  const long result = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0L);
  if (result == 0) {
    become_stub(stored, ends[1]);
  }
  const int errnum = errno;
  close(stored);
  close(ends[1]);
  if (result < 0) {
    close(ends[0]);
    return tell_failure(id, errnum);
  }
  place->id = id;
  place->stream = ends[0];
  place->stub = static_cast<pid_t>(result);
  return true;
}

bool close_session(std::uint32_t id, bool kill_it) noexcept {
  Session* const session = find_session(id);
  if (session == nullptr) {
    return true;
  }
  if (session->stream >= 0) {
    (void)shutdown(session->stream, SHUT_RDWR);
  }
  if (kill_it && session->stub > 0) {
    kill(session->stub, SIGKILL);  // not reaped yet, so the number is its own
  }
  return true;
}

bool hear_warden(Session& session) noexcept {
  wire::Header header;
  int fds[wire::kMaxFds];
  const bool came = receive_header(session.stream, header, fds) &&
                    receive_bytes(session.stream, answer, header.length);
  if (came && static_cast<wire::Type>(header.type) == wire::Type::Spawned) {
    agent_started(header.id, fds[0]);
  }
  for (const int fd : fds) {
    if (fd >= 0) {
      close(fd);
    }
  }
  if (came) {
    return pass_on(session, header);
  }
  close(session.stream);
  session.stream = kNoFd;
  return settle(session);
}

bool reap_stubs() noexcept {
  for (;;) {
    const pid_t pid = waitpid(-1, nullptr, WNOHANG);
    if (pid <= 0) {
      return true;
    }
    for (Session& session : sessions) {
      if (session.stub == pid) {
        session.stub = 0;
        if (!settle(session)) {
          return false;
        }
      }
    }
  }
}

void end_sessions() noexcept {
  for (Session& session : sessions) {
    if (session.stream >= 0) {
      close(session.stream);
    }
  }
  while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
}

}  // namespace bawn::sandbox::warden::relay
