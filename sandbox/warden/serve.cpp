// The warden's second half: requests from the server, deaths of children, and its own end.
#include "procfs.hpp"
#include "warden.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

void close_all(const int (&fds)[wire::kMaxFds]) noexcept {
  for (const int fd : fds) {
    if (fd >= 0) {
      close(fd);
    }
  }
}

/// False when the server is gone or talks nonsense.
bool handle_request(const Station& station) noexcept {
  wire::Header header;
  int fds[wire::kMaxFds];
  if (!receive_header(station.stream, header, fds)) {
    return false;
  }
  switch (static_cast<wire::Type>(header.type)) {
    case wire::Type::Spawn:
      return handle_spawn(station, header, fds);
    case wire::Type::Signal:
      close_all(fds);
      return handle_signal(station, header);
    case wire::Type::Tree:
      close_all(fds);
      return header.length == 0 && handle_tree(station, header);
    case wire::Type::Agent: {
      const bool alive = handle_agent(station, header, fds[0]);
      close_all(fds);
      return alive;
    }
    default:
      return false;
  }
}

void drain_signals(int fd) noexcept {
  signalfd_siginfo infos[8];
  while (read(fd, infos, sizeof infos) > 0) {
  }
}

/// With a PID namespace the kernel kills everything in it with its init. Without one, all that runs
/// here is a descendant (the warden is the subreaper): kill until there is none.
[[noreturn]] void end_session(const Station& station) noexcept {
  while (!station.own_pid_namespace) {
    kill_descendants(station.proc);
    if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) {
      break;
    }
  }
  _exit(0);
}

}  // namespace

void serve(const Station& station) {
  pollfd waiting[3] = {
      {station.stream, POLLIN, 0}, {station.signals, POLLIN, 0}, {station.life, 0, 0}};
  for (;;) {
    if (poll(waiting, 3, -1) < 0) {
      if (errno == EINTR) {
        continue;  // nothing was written to `revents`
      }
      end_session(station);
    }
    if (waiting[1].revents != 0) {
      drain_signals(station.signals);
      if (!reap_children(station)) {
        end_session(station);
      }
    }
    if (waiting[2].revents != 0 || (waiting[0].revents != 0 && !handle_request(station))) {
      end_session(station);
    }
  }
}

}  // namespace bawn::sandbox::warden
