#include "terminal.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <cerrno>

namespace bawn::shell {

namespace {

std::unexpected<Error> failed(const char* call) {
  return std::unexpected(Error::from_errno(errno, call, "cannot make a terminal"));
}

}  // namespace

Result<Terminal> Terminal::open(TerminalSize size) {
  Terminal terminal;
  terminal.outer.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.outer.is_open()) {
    return failed("posix_openpt");
  }
  if (grantpt(terminal.outer.get()) != 0 || unlockpt(terminal.outer.get()) != 0) {
    return failed("unlockpt");
  }
  // By the outer end itself, not by name (Linux 4.13): no other mount of devpts can come between.
  terminal.inner.reset(ioctl(terminal.outer.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.inner.is_open()) {
    return failed("TIOCGPTPEER");
  }
  const winsize wanted{.ws_row = size.rows, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (ioctl(terminal.outer.get(), TIOCSWINSZ, &wanted) != 0 ||
      fcntl(terminal.outer.get(), F_SETFL, O_NONBLOCK) != 0) {
    return failed("TIOCSWINSZ");
  }
  return terminal;
}

}  // namespace bawn::shell
