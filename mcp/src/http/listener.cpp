#include "http/listener.hpp"

#include "http/access.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace bawn::mcp {
namespace {

using boost::asio::ip::tcp;
using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

std::unexpected<Error> system_error(const char* call, const std::string& what) {
  return std::unexpected(Error::from_errno(errno, call, what));
}

Result<tcp::endpoint> endpoint_of(const HttpOptions& options) {
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(options.address, failed);
  if (failed) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is not an IP address", options.address));
  }
  if (!is_loopback(options.address) && options.tokens.empty() && !options.open_to_all) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} can be reached by other machines: give a file of bearer tokens, "
                            "or say that everybody may call",
                            options.address));
  }
  return tcp::endpoint(address, options.port);
}

}  // namespace

Result<Listener> Listener::open(const HttpOptions& options) {
  if (!options.unix_path.empty()) {
    return Listener(BAWN_TRY(LocalSocket::listen(options.unix_path)));
  }
  const tcp::endpoint endpoint = BAWN_TRY(endpoint_of(options));
  const int family = endpoint.protocol().family();
  const std::string what = fmt::format("listening at {}:{}", options.address, options.port);
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    return system_error("socket", what);
  }
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    return system_error("bind", what);
  }
  if (::listen(fd.get(), SOMAXCONN) != 0) {
    return system_error("listen", what);
  }
  return Listener(std::move(fd), family);
}

Listener::Listener(LocalSocket local) : local_(std::move(local)), family_(AF_UNIX) {}

std::uint16_t Listener::port() const {
  tcp::endpoint bound;
  auto size = static_cast<socklen_t>(bound.capacity());
  if (local_ || ::getsockname(fd(), bound.data(), &size) != 0) {
    return 0;
  }
  bound.resize(size);
  return bound.port();
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
