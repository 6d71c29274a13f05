#include "bawn/os/event_fd.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace bawn::os {

contract::Result<EventFd> EventFd::make() {
  UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.is_open()) {
    return std::unexpected(contract::Error::from_errno(errno, "eventfd", "cannot make an eventfd"));
  }
  return EventFd(std::move(fd));
}

void EventFd::signal() const noexcept {
  const std::uint64_t one = 1;
  // Can only fail when the counter is full, and then it is readable already.
  (void)!::write(fd_.get(), &one, sizeof one);
}

void EventFd::clear() const noexcept {
  std::uint64_t count = 0;
  (void)!::read(fd_.get(), &count, sizeof count);
}

}  // namespace bawn::os
