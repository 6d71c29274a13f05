#include "stdio/ending_signals.hpp"

#include <sys/signalfd.h>

#include <cerrno>

namespace bawn::mcp {

contract::Result<> EndingSignals::take() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&set, number);
  }
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  taken_ = true;
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  fd_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) {
    return std::unexpected(contract::Error::from_errno(errno, "signalfd", "waiting for signals"));
  }
  return {};
}

EndingSignals::~EndingSignals() {
  if (taken_) {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
}

void EndingSignals::clear() const {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) > 0) {
  }
}

}  // namespace bawn::mcp
