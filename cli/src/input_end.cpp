#include "input_end.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace bawn::cli {
namespace {

using std::chrono::steady_clock;

/// Waits for what `entries` ask for, over interruptions; false when the time was over.
bool wait(std::array<pollfd, 2>& entries, std::chrono::milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    const int forever = limit.count() < 0 ? -1 : static_cast<int>(left > 0 ? left : 0);
    const int ready = ::poll(entries.data(), entries.size(), forever);
    if (ready >= 0 || errno != EINTR) {
      return ready > 0;
    }
  }
}

bool has_unread_input() {
  int waiting = 0;
  return ::ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0;
}

}  // namespace

contract::Result<std::unique_ptr<InputEnd>> InputEnd::watch() {
  std::unique_ptr<InputEnd> made(new InputEnd(BAWN_TRY(os::EventFd::make())));
  try {
    made->thread_ = std::thread([raw = made.get()] { raw->look(); });
  } catch (const std::system_error&) {
    return contract::fail(contract::ErrorCode::ResourceExhausted, "no thread could be started");
  }
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
  if (!wait(entries, std::chrono::milliseconds(-1)) || entries[1].revents != 0 ||
      (entries[0].revents & (POLLHUP | POLLRDHUP)) == 0) {
    return;
  }
  entries[0].fd = -1;
  entries[1].revents = 0;
  if (has_unread_input() && wait(entries, kPatience)) {
    return;
  }
  came_ = true;
  source_.cancel();
}

}  // namespace bawn::cli
