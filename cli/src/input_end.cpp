#include "input_end.hpp"

#include "bawn/os/library_thread.hpp"
#include "bawn/os/poll.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>

namespace bawn::cli {
namespace {

bool has_unread_input() {
  int waiting = 0;
  return ::ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0;
}

}  // namespace

contract::Result<std::unique_ptr<InputEnd>> InputEnd::watch() {
  std::unique_ptr<InputEnd> made(new InputEnd(BAWN_TRY(os::EventFd::make())));
  made->thread_ = BAWN_TRY(os::joinable_library_thread([raw = made.get()] { raw->look(); }));
  return made;
}

void InputEnd::finish() {
  if (thread_.joinable()) {
    done_.signal();
    thread_.join();
  }
}

void InputEnd::look() {
  std::array<pollfd, 2> entries = {pollfd{.fd = STDIN_FILENO, .events = POLLRDHUP, .revents = 0},
                                   pollfd{.fd = done_.get(), .events = POLLIN, .revents = 0}};
  if (!os::wait_events(entries, contract::Context()) || entries[1].revents != 0 ||
      (entries[0].revents & (POLLHUP | POLLRDHUP)) == 0) {
    return;
  }
  const auto patience =
      contract::Context().with_deadline(contract::Context::Clock::now() + kPatience);
  if (has_unread_input() && os::wait_readable(done_.get(), patience)) {
    return;
  }
  came_ = true;
  source_.cancel();
}

}  // namespace bawn::cli
