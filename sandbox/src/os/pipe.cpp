#include "bawn/os/pipe.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace bawn::os {

contract::Result<Pipe> Pipe::make() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::unexpected(contract::Error::from_errno(errno, "pipe2", "cannot make a pipe"));
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

contract::Result<SocketPair> SocketPair::make() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return std::unexpected(
        contract::Error::from_errno(errno, "socketpair", "cannot make a socket pair"));
  }
  return SocketPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace bawn::os
