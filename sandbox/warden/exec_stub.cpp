// The stub in its --exec mode: a direct child of somebody's program that stands for one command
// behind a wall. It is the warden's server for that command: asks for it, passes signals on, and
// then ends the way the command ended, so that whoever waits for the stub learns the command's
// fate.
#include "warden.hpp"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

constexpr int kForwarded[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                              SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
constexpr std::uint32_t kProcessTarget = 1;  // Kind::Process of signals.cpp

struct Session {
  PlanView plan;
  pid_t warden = 0;
  int life = -1;
  int stream = -1;    ///< to the warden
  int signals = -1;   ///< signalfd of kForwarded
  pid_t command = 0;  ///< as the warden numbers it
};

/// Whatever stands so far ends with the descriptors: the warden sees its stream's end.
[[noreturn]] void give_up(const Session& session) {
  if (session.warden > 0) {
    close(session.stream);
    close(session.life);
    end_stub(session.plan, session.warden);
  }
  _exit(1);
}

[[noreturn]] void refuse(const Session& session, Step step, int errnum) {
  const std::uint32_t payload[2] = {static_cast<std::uint32_t>(step),
                                    static_cast<std::uint32_t>(errnum)};
  (void)send_frame(wire::kStreamFd, wire::Type::Refused, 0, payload, sizeof payload, -1);
  give_up(session);
}

/// Blocks what is to be passed on, before anything can come.
bool listen_for_signals(Session& session) noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kForwarded) {
    sigaddset(&set, number);
  }
  session.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return session.signals >= 0 && sigprocmask(SIG_SETMASK, &set, nullptr) == 0;
}

void raise_wall(Session& session) {
  int pair[2];
  if (!listen_for_signals(session) ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    send_failure(wire::kStreamFd, {Step::Descriptors, errno, 0});
    _exit(1);
  }
  const Failure failure = start_warden(session.plan, pair[1], session.warden, session.life);
  close(pair[1]);
  session.stream = pair[0];
  if (failure.failed()) {
    send_failure(wire::kStreamFd, failure);
    _exit(1);
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  (void)!chdir("/");  // not to hold the caller's directory in place
}

/// The warden's first word, passed on as it is.
void pass_on_report(const Session& session) {
  static unsigned char payload[kReplySize];
  wire::Header header;
  int fds[wire::kMaxFds];
  if (!receive_header(session.stream, header, fds) || header.length > sizeof payload ||
      !receive_bytes(session.stream, payload, header.length)) {
    give_up(session);
  }
  const auto type = static_cast<wire::Type>(header.type);
  if (!send_frame(wire::kStreamFd, type, 0, payload, header.length, fds[0]) ||
      type != wire::Type::Ready) {
    give_up(session);
  }
  if (fds[0] >= 0) {
    close(fds[0]);
  }
}

/// Takes the warden's answer to the request; returns when the command has its place.
void ask_for_command(Session& session, int go) {
  struct stat status = {};
  if (fstat(wire::kRequestFd, &status) != 0 ||
      status.st_size > static_cast<off_t>(wire::kMaxPayload)) {
    refuse(session, Step::Request, EPROTO);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const request = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, wire::kRequestFd, 0);
  if (request == MAP_FAILED) {
    refuse(session, Step::Request, errno);
  }
  const int fds[wire::kMaxFds] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, go};
  wire::Header header;
  int received[wire::kMaxFds];
  std::uint32_t answer[2] = {};
  if (!send_frame_with(session.stream, wire::Type::Spawn, 1, request, size, fds, wire::kMaxFds) ||
      !receive_header(session.stream, header, received) || header.length > sizeof answer ||
      !receive_bytes(session.stream, answer, header.length)) {
    give_up(session);
  }
  munmap(request, size);
  if (received[0] >= 0) {
    close(received[0]);  // its pidfd: the stub hears of its end from the warden
  }
  if (static_cast<wire::Type>(header.type) != wire::Type::Spawned) {
    refuse(session, static_cast<Step>(answer[0]), static_cast<int>(answer[1]));
  }
  session.command = static_cast<pid_t>(answer[0]);
}

/// Four bytes of the go socket: an errno, or -1 at its end.
int read_word(int go) noexcept {
  std::int32_t word = 0;
  return receive_bytes(go, &word, sizeof word) ? word : -1;
}

void start_command(Session& session) {
  int go[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0) {
    refuse(session, Step::Descriptors, errno);
  }
  ask_for_command(session, go[1]);
  close(go[1]);
  if (const int errnum = read_word(go[0]); errnum > 0) {
    refuse(session, Step::WorkingDirectory, errnum);
  }
  (void)send(go[0], "g", 1, MSG_NOSIGNAL);
  // The socket's end means that it has executed, or was ended before: its status will say so.
  if (const int errnum = read_word(go[0]); errnum > 0) {
    refuse(session, Step::Execute, errnum);
  }
  close(go[0]);
  (void)send_frame(wire::kStreamFd, wire::Type::Executed, 0, nullptr, 0, -1);
  // The end of the command's output must be seen when the command closes it.
  const int done[] = {STDIN_FILENO,  STDOUT_FILENO,   STDERR_FILENO,
                      wire::kPlanFd, wire::kStreamFd, wire::kRequestFd};
  for (const int fd : done) {
    close(fd);
  }
}

bool pass_signals_on(const Session& session) noexcept {
  signalfd_siginfo info;
  while (read(session.signals, &info, sizeof info) == sizeof info) {
    unsigned char buffer[64];
    Packer out{buffer, sizeof buffer};
    out.u32(kProcessTarget);
    out.u32(static_cast<std::uint32_t>(session.command));
    out.text("", 0);
    out.u64(0);
    out.u32(0);
    out.u32(info.ssi_signo);
    if (!send_frame(session.stream, wire::Type::Signal, 2, buffer, out.size, -1)) {
      return false;
    }
  }
  return true;
}

/// The wait status of the command; that of a kill when the warden was taken away.
int await_end(const Session& session) noexcept {
  pollfd waiting[2] = {{session.stream, POLLIN, 0}, {session.signals, POLLIN, 0}};
  unsigned char payload[64];
  for (;;) {
    if (poll(waiting, 2, -1) < 0) {
      if (errno == EINTR) {
        continue;  // nothing was written to `revents`
      }
      return SIGKILL;
    }
    if (waiting[1].revents != 0 && !pass_signals_on(session)) {
      return SIGKILL;
    }
    if (waiting[0].revents == 0) {
      continue;
    }
    wire::Header header;
    int fds[wire::kMaxFds];
    if (!receive_header(session.stream, header, fds) || header.length > sizeof payload ||
        !receive_bytes(session.stream, payload, header.length)) {
      return SIGKILL;
    }
    if (static_cast<wire::Type>(header.type) == wire::Type::Exited) {
      return wire::Reader(payload, header.length).i32();
    }
  }
}

/// Ends as the command did. A core file would be the stub's own: there is none.
[[noreturn]] void end_like(int status) noexcept {
  if (WIFSIGNALED(status)) {
    const rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    const int number = WTERMSIG(status);
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigprocmask(SIG_SETMASK, &set, nullptr);
    (void)kill(getpid(), number);
    _exit(128 + number);  // a signal whose default is not to end a process
  }
  _exit(WEXITSTATUS(status));
}

}  // namespace

void run_exec_stub() {
  static Session session;
  begin_stub(wire::kPlanFd, wire::kStreamFd, session.plan);
  raise_wall(session);
  pass_on_report(session);
  start_command(session);
  const int status = await_end(session);
  close(session.stream);
  close(session.life);
  end_stub(session.plan, session.warden);
  end_like(status);
}

}  // namespace bawn::sandbox::warden
