#include "http/listener.hpp"

#include "http/access.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

std::unexpected<Error> system_error(const char* call, const std::string& what) {
  return std::unexpected(Error::from_errno(errno, call, what));
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);  // NOLINT: how the socket API wants it
  }
};

Result<Address> address_of(const HttpOptions& options) {
  Address address;
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, options.address.c_str(), &four) == 1) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(options.port);
    in.sin_addr = four;
    std::memcpy(&address.storage, &in, sizeof in);
    address.size = sizeof in;
  } else if (::inet_pton(AF_INET6, options.address.c_str(), &six) == 1) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(options.port);
    in.sin6_addr = six;
    std::memcpy(&address.storage, &in, sizeof in);
    address.size = sizeof in;
  } else {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is not an IP address", options.address));
  }
  if (!is_loopback(options.address) && options.tokens.empty() && !options.open_to_all) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} can be reached by other machines: give a file of bearer tokens, "
                            "or say that everybody may call",
                            options.address));
  }
  return address;
}

}  // namespace

Result<Listener> Listener::open(const HttpOptions& options) {
  if (!options.unix_path.empty()) {
    return Listener(BAWN_TRY(LocalSocket::listen(options.unix_path)));
  }
  const Address address = BAWN_TRY(address_of(options));
  const int family = address.storage.ss_family;
  const std::string what = fmt::format("listening at {}:{}", options.address, options.port);
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    return system_error("socket", what);
  }
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), address.get(), address.size) != 0) {
    return system_error("bind", what);
  }
  if (::listen(fd.get(), SOMAXCONN) != 0) {
    return system_error("listen", what);
  }
  return Listener(std::move(fd), family);
}

Listener::Listener(LocalSocket local) : local_(std::move(local)), family_(AF_UNIX) {}

std::uint16_t Listener::port() const {
  Address bound;
  bound.size = sizeof bound.storage;
  auto* const address = reinterpret_cast<sockaddr*>(&bound.storage);  // NOLINT: as above
  if (local_ || ::getsockname(fd(), address, &bound.size) != 0) {
    return 0;
  }
  // The port lies at the same place in both kinds of address.
  sockaddr_in in{};
  std::memcpy(&in, &bound.storage, sizeof in);
  return ntohs(in.sin_port);
}

UniqueFd Listener::accept() const {
  if (local_) {
    return local_->accept();
  }
  UniqueFd connection(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection) {
    const int yes = 1;
    ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  return connection;
}

}  // namespace bawn::mcp
