// The warden behind walls that somebody else built: a container's main process, or one more session
// beside that. There is no stub: the container's engine, or the first warden, is the parent.
#include "warden.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

/// The server listens there, on the other side of a bind mount; -1 when it cannot be reached.
int connect_to(const char* path) noexcept {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address.sun_path, path);
  const int stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (stream >= 0 &&
      connect(stream, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int errnum = errno;
    close(stream);
    errno = errnum;
    return -1;
  }
  return stream;
}

/// The engine shows it to whoever started the container; nobody else could say it.
[[noreturn]] void complain(const char* what) noexcept {
  const char* const why = strerror(errno);
  (void)!write(STDERR_FILENO, what, strlen(what));
  (void)!write(STDERR_FILENO, ": ", 2);
  (void)!write(STDERR_FILENO, why, strlen(why));
  (void)!write(STDERR_FILENO, "\n", 1);
  _exit(1);
}

/// Waits for the plan and follows it. `life` ends with the server.
[[noreturn]] void follow_plan(int stream, int life) noexcept {
  wire::Header header;
  int fds[wire::kMaxFds];
  std::uint32_t number = 0;
  PlanView plan;
  if (!receive_header(stream, header, fds) ||
      header.type != static_cast<std::uint32_t>(wire::Type::Plan) ||
      header.length != sizeof number || !receive_bytes(stream, &number, sizeof number) ||
      fds[0] < 0 || !map_plan(fds[0], plan) || plan.clone_flags != 0 || plan.mount_count != 0) {
    send_failure(stream, {Step::Plan, EPROTO, 0});
    _exit(1);
  }
  close(fds[0]);
  plan.host_pid = static_cast<int>(number);
  run_warden(plan, stream, life);
}

}  // namespace

void run_main_process(const char* socket_path) {
  const int stream = connect_to(socket_path);
  if (stream < 0) {
    complain("bawn-warden: cannot reach bawn");
  }
  follow_plan(stream, STDIN_FILENO);
}

void run_beside() {
  follow_plan(STDIN_FILENO, STDIN_FILENO);
}

}  // namespace bawn::sandbox::warden
