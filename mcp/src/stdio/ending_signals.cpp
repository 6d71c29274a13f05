#include "stdio/ending_signals.hpp"

#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstdint>

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

contract::Result<> ToldToEnd::prepare() {
  fd_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE));
  if (!fd_) {
    return std::unexpected(contract::Error::from_errno(errno, "eventfd", "waiting for the end"));
  }
  return {};
}

void ToldToEnd::tell() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto told = ::write(fd_.get(), &one, sizeof one);
}

void ToldToEnd::clear() const {
  std::uint64_t one = 0;
  [[maybe_unused]] const auto got = ::read(fd_.get(), &one, sizeof one);
}

}  // namespace bawn::mcp
