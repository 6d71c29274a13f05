#include "local_socket.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);  // NOLINT: how the socket API wants it
}

/// Holds a directory against others that begin to listen in it. None where it cannot be had: only
/// who may read a directory can lock it, and whoever may can also keep the lock.
UniqueFd lock_directory(const std::string& path) {
  constexpr int kTries = 100;
  constexpr int kPauseMs = 20;
  const auto slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK || i == kTries) {
      return {};
    }
    ::poll(nullptr, 0, kPauseMs);
  }
  return lock;
}

/// Removes a socket at which nobody listens any more: what a killed server left.
void remove_dead_socket(const sockaddr_un& address) {
  struct stat there{};
  if (::lstat(address.sun_path, &there) != 0 || !S_ISSOCK(there.st_mode)) {
    return;
  }
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(probe.get(), generic(address), sizeof address) != 0 && errno == ECONNREFUSED) {
    ::unlink(address.sun_path);
  }
}

std::uint64_t inode_of(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

bool is_own_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == ::geteuid() || peer.uid == 0);
}

}  // namespace

Result<LocalSocket> LocalSocket::listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the path of a socket has 1 to {} bytes: {}",
                            sizeof address.sun_path - 1, path));
  }
  path.copy(address.sun_path, path.size());
  const auto failed = [&](const char* call) {
    return std::unexpected(Error::from_errno(errno, call, "listening at " + path));
  };
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    return failed("socket");
  }
  // Between bind() and listen() a socket looks like a dead one, which a second server would remove.
  // Renaming one that listens already is no way: the kernel goes on to list it by the name that it
  // was bound to, and by that list sessions find the sockets to keep out of reach.
  const UniqueFd lock = lock_directory(path);
  if (lock) {
    remove_dead_socket(address);
  }
  // The file that bind() makes gets this mode: at no moment can anybody else connect.
  ::fchmod(fd.get(), S_IRUSR | S_IWUSR);
  if (::bind(fd.get(), generic(address), sizeof address) != 0) {
    const bool may_be_dead = errno == EADDRINUSE && !lock;
    return may_be_dead
               ? std::unexpected(Error::from_errno(
                     EADDRINUSE, "bind",
                     "listening at " + path +
                         " (whether anybody listens there was not looked at, because the directory "
                         "cannot be locked: remove it if nobody does)"))
               : failed("bind");
  }
  LocalSocket made(std::move(fd), path, inode_of(path));
  if (::listen(made.fd(), SOMAXCONN) != 0) {
    return failed("listen");
  }
  return made;
}

LocalSocket::LocalSocket(LocalSocket&& other) noexcept
    : fd_(std::move(other.fd_)), path_(std::exchange(other.path_, {})), inode_(other.inode_) {}

LocalSocket::~LocalSocket() {
  if (!path_.empty() && inode_of(path_) == inode_) {
    ::unlink(path_.c_str());
  }
}

UniqueFd LocalSocket::accept() const {
  UniqueFd connection(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection && !is_own_user(connection.get())) {
    connection = UniqueFd();
    errno = EACCES;
  }
  return connection;
}

}  // namespace bawn::mcp
