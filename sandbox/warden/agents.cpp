// Starting file agents: copies of the warden that keep nothing but the server's socket. They belong
// to no call: the looks at processes and the signals pass them by.
#include "agent/agent.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

constexpr int kAgentStream = 4;

pid_t agents[file_wire::kMaxAgents];
unsigned char order[file_wire::kMaxStart];

pid_t* find_agent(pid_t pid) noexcept {
  for (pid_t& agent : agents) {
    if (agent == pid) {
      return &agent;
    }
  }
  return nullptr;
}

[[noreturn]] void run_agent(pid_t warden, int stream, std::size_t length) noexcept {
  // With a PID namespace it dies with its init anyway, and sees that as parent 0 or 1.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || (getppid() != warden)) {
    _exit(1);
  }
  if (stream != kAgentStream && dup3(stream, kAgentStream, O_CLOEXEC) < 0) {
    _exit(1);
  }
  // The warden's own stream and eyes above all: its end must be seen when it is gone.
  if (syscall(SYS_close_range, kAgentStream + 1U, ~0U, 0U) != 0 || !agent::keep_to(order, length)) {
    _exit(1);
  }
  agent::serve(kAgentStream);
  _exit(0);
}

bool refuse(const Station& station, std::uint32_t id, Step step, int errnum) noexcept {
  const std::uint32_t payload[2] = {static_cast<std::uint32_t>(step),
                                    static_cast<std::uint32_t>(errnum)};
  return send_frame(station.stream, wire::Type::Refused, id, payload, sizeof payload, -1);
}

bool start_agent(const Station& station, const wire::Header& header, int stream) noexcept {
  pid_t* const place = find_agent(0);
  if (place == nullptr) {
    return refuse(station, header.id, Step::Process, EAGAIN);
  }
  const pid_t self = getpid();
  int pidfd = -1;
  // A fork that the C library does not know of, as in stub.cpp.
  const long result = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, 0L);
  if (result == 0) {
    run_agent(self, stream, header.length);
  }
  if (result < 0) {
    return refuse(station, header.id, Step::Process, errno);
  }
  *place = static_cast<pid_t>(result);
  const std::uint32_t payload[1] = {static_cast<std::uint32_t>(result)};
  const bool sent =
      send_frame(station.stream, wire::Type::Spawned, header.id, payload, sizeof payload, pidfd);
  close(pidfd);
  return sent;
}

}  // namespace

bool is_agent(pid_t pid) noexcept {
  return pid > 0 && find_agent(pid) != nullptr;
}

void forget_agent(pid_t pid) noexcept {
  if (pid_t* const agent = find_agent(pid)) {
    *agent = 0;
  }
}

bool handle_agent(const Station& station, const wire::Header& header, int stream) noexcept {
  if (header.length > sizeof order || stream <= kNullFd ||
      !receive_bytes(station.stream, order, header.length)) {
    return false;
  }
  return start_agent(station, header, stream);
}

}  // namespace bawn::sandbox::warden
