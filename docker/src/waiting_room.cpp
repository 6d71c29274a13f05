#include "waiting_room.hpp"

#include "bawn/os/poll.hpp"

#include <fmt/format.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace bawn::container {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

Result<WaitingRoom> WaitingRoom::open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return contract::fail(
        ErrorCode::InvalidArgument,
        fmt::format("the path {} is too long for a socket; set BAWN_RUNTIME_DIR to a shorter one",
                    path));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  os::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener.is_open() ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0666) != 0 || ::listen(listener.get(), 1) != 0) {
    return std::unexpected(Error::from_errno(errno, "bind", "cannot listen at " + path));
  }
  return WaitingRoom(std::move(listener), path);
}

WaitingRoom::~WaitingRoom() {
  if (listener_.is_open()) {
    ::unlink(path_.c_str());
  }
}

Result<std::optional<Visitor>> WaitingRoom::await(const contract::Context& context,
                                                  const os::Pidfd& engine) {
  std::array<pollfd, 2> waiting = {{{listener_.get(), POLLIN, 0}, {engine.get(), POLLIN, 0}}};
  BAWN_TRY(os::wait_events(waiting, context));
  std::optional<Visitor> visitor;
  if (waiting[0].revents != 0) {
    visitor.emplace();
    visitor->stream.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ucred peer{};
    socklen_t size = sizeof peer;
    if (!visitor->stream.is_open() ||
        ::getsockopt(visitor->stream.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
      return std::unexpected(
          Error::from_errno(errno, "accept4", "cannot take the container's connection"));
    }
    visitor->pid = peer.pid;
  }
  ::unlink(path_.c_str());
  listener_.reset();
  return visitor;
}

}  // namespace bawn::container
