#include "bawn/os/quiet_write.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace bawn::os {

long write_quietly(int fd, const char* bytes, std::size_t size) noexcept {
  sigset_t pipe_signal;
  sigset_t before;
  sigset_t pending;
  ::sigemptyset(&pipe_signal);
  ::sigaddset(&pipe_signal, SIGPIPE);
  ::sigpending(&pending);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t count = 0;
  do {
    count = ::write(fd, bytes, size);
  } while (count < 0 && errno == EINTR);
  const int errnum = errno;
  if (count < 0 && errnum == EPIPE && ::sigismember(&pending, SIGPIPE) == 0) {
    const timespec now{};
    (void)::sigtimedwait(&pipe_signal, nullptr, &now);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = errnum;
  return count;
}

}  // namespace bawn::os
