// What the session's network needs inside: the proxy's socket, and a try of the listener.
#include "warden.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

Failure open_proxy(const PlanView& plan, int& fd) noexcept {
  if (!plan.has(wire::kProxyListener)) {
    return {};
  }
  fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(plan.proxy_port));
  const bool done = fd >= 0 &&
                    bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                    listen(fd, SOMAXCONN) == 0;
  return done ? Failure{} : Failure{Step::Proxy, errno, plan.proxy_port};
}

Failure try_listener(const PlanView& plan) noexcept {
  if (plan.listener_length == 0) {
    return {};
  }
  // A filter cannot be taken off again, so another process tries it.
  const long pid = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0L);
  if (pid == 0) {
    const sock_fprog program = {
        static_cast<unsigned short>(plan.listener_length),
        reinterpret_cast<sock_filter*>(const_cast<unsigned char*>(plan.listener_program))};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const long listener =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    _exit(listener >= 0 ? 0 : errno);
  }
  if (pid < 0) {
    return {Step::Listener, errno, 0};
  }
  int status = 0;
  while (waitpid(static_cast<pid_t>(pid), &status, 0) < 0 && errno == EINTR) {
  }
  const int errnum = WIFEXITED(status) ? WEXITSTATUS(status) : EPROTO;
  return errnum == 0 ? Failure{} : Failure{Step::Listener, errnum, 0};
}

}  // namespace bawn::sandbox::warden
