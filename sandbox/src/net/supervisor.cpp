#include "supervisor.hpp"

#include "small_file.hpp"
#include "tcp_listeners.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace bawn::sandbox::net {
namespace {

constexpr std::uint16_t kFirstFreePort = 1024;

int option_of(const os::UniqueFd& socket, int name) noexcept {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket.get(), SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

bool is_internet(const os::UniqueFd& socket) noexcept {
  const int domain = option_of(socket, SO_DOMAIN);
  return domain == AF_INET || domain == AF_INET6;
}

bool is_tcp(const os::UniqueFd& socket) noexcept {
  return is_internet(socket) && option_of(socket, SO_PROTOCOL) == IPPROTO_TCP;
}

struct Target {
  Address address;
  std::uint16_t port = 0;
};

/// nullopt when it is no whole Internet address.
std::optional<Target> read_target(const SocketAddress& given) {
  Target target;
  if (given.get()->sa_family == AF_INET && given.size >= sizeof(sockaddr_in)) {
    sockaddr_in inner{};
    std::memcpy(&inner, &given.storage, sizeof inner);
    std::memcpy(target.address.bytes.data(), &inner.sin_addr, sizeof inner.sin_addr);
    target.port = ntohs(inner.sin_port);
    return target;
  }
  constexpr std::size_t kWithoutScope = 24;  // SIN6_LEN_RFC2133: what the kernel is content with
  if (given.get()->sa_family != AF_INET6 || given.size < kWithoutScope) {
    return std::nullopt;
  }
  sockaddr_in6 inner{};
  std::memcpy(&inner, &given.storage, sizeof inner);
  target.port = ntohs(inner.sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&inner.sin6_addr)) {  // the kernel connects to the IPv4 address
    std::memcpy(target.address.bytes.data(), inner.sin6_addr.s6_addr + 12, 4);
  } else {
    target.address.v6 = true;
    std::memcpy(target.address.bytes.data(), &inner.sin6_addr, 16);
  }
  return target;
}

/// connect(2) takes the unspecified address as this machine.
bool is_this_machine(const Address& address) {
  static constexpr std::array<std::uint8_t, 16> kNone{};
  return address.bytes == kNone || reach_of(address) == Reach::Loopback;
}

/// Everything to loopback: a server for the session, and for nobody outside.
SocketAddress loopback_for(const os::UniqueFd& socket, int family, std::uint16_t port) {
  SocketAddress address;
  if (family == AF_INET) {
    sockaddr_in inner{};
    inner.sin_family = AF_INET;
    inner.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    inner.sin_port = htons(port);
    std::memcpy(&address.storage, &inner, address.size = sizeof inner);
    return address;
  }
  int only_v6 = 0;
  socklen_t size = sizeof only_v6;
  (void)::getsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, &size);
  sockaddr_in6 inner{};
  inner.sin6_family = AF_INET6;
  inner.sin6_port = htons(port);
  inner.sin6_addr = in6addr_loopback;
  if (only_v6 == 0) {  // "::" served both: IPv4's loopback is what more clients try
    inner.sin6_addr = IN6ADDR_ANY_INIT;
    inner.sin6_addr.s6_addr[10] = inner.sin6_addr.s6_addr[11] = 0xff;
    inner.sin6_addr.s6_addr[12] = 127;
    inner.sin6_addr.s6_addr[15] = 1;
  }
  std::memcpy(&address.storage, &inner, address.size = sizeof inner);
  return address;
}

std::optional<Target> own_address(const os::UniqueFd& socket) {
  SocketAddress bound;
  bound.size = sizeof bound.storage;
  if (::getsockname(socket.get(), bound.get(), &bound.size) != 0) {
    return std::nullopt;
  }
  return read_target(bound);
}

int errno_unless(bool done) noexcept {
  return done ? 0 : errno;
}

/// How long the caller is ready to wait, as SO_SNDTIMEO says; zero = as long as it takes.
std::chrono::microseconds send_timeout(const os::UniqueFd& socket) noexcept {
  timeval time{};
  socklen_t size = sizeof time;
  (void)::getsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, &size);
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

void Supervisor::add(os::UniqueFd listener) {
  asio::co_spawn(
      loop_.io,
      [](std::shared_ptr<Supervisor> self, os::UniqueFd fd) -> asio::awaitable<void> {
        co_await self->serve(std::move(fd));
      }(shared_from_this(), std::move(listener)),
      asio::detached);
}

asio::awaitable<void> Supervisor::serve(os::UniqueFd listener) {
  // A call may be answered after the last one that uses this listener has gone.
  const auto held =
      std::make_shared<const os::UniqueFd>(::fcntl(listener.get(), F_DUPFD_CLOEXEC, 3));
  asio::posix::stream_descriptor waiting(loop_.io, listener.release());
  while (true) {
    auto [error] =
        co_await waiting.async_wait(asio::posix::stream_descriptor::wait_read, kAsValues);
    if (error) {
      co_return;
    }
    pollfd state{waiting.native_handle(), POLLIN, 0};
    while (::poll(&state, 1, 0) > 0 && (state.revents & POLLIN) != 0) {
      if (const auto notification = Notification::receive(held)) {
        handle(*notification);
      }
    }
    if ((state.revents & (POLLHUP | POLLERR)) != 0) {
      co_return;
    }
  }
}

void Supervisor::handle(const Notification& notification) {
  auto socket = notification.borrow(static_cast<int>(notification.argument(0)));
  if (!socket) {
    notification.answer(socket.error());
  } else if (!is_tcp(*socket)) {
    // With the full network only TCP is judged, and Landlock keeps TCP from being connected in any
    // other way, should the descriptor be changed for another now.
    if (rules_.loopback_only) {
      notification.answer(EPERM);
    } else {
      notification.let_through();
    }
  } else if (notification.call() == SYS_connect) {
    on_connect(notification, *std::move(socket));
  } else if (notification.call() == SYS_bind) {
    on_bind(notification, *socket);
  } else {
    on_listen(notification, *socket);
  }
}

void Supervisor::refuse(EgressVia via, const Address& address, std::uint16_t port,
                        std::string rule) {
  EgressDecision decision;
  decision.via = via;
  decision.host = decision.address = to_string(address);
  decision.port = port;
  decision.rule = std::move(rule);
  loop_.log.add(std::move(decision));
}

Supervisor::Judgement Supervisor::judge_loopback(const Address& address, std::uint16_t port) {
  if (rules_.proxy_port != 0 && port == rules_.proxy_port) {
    return {.allowed = true, .errnum = 0, .to_proxy = true};
  }
  const std::vector<std::uint64_t> there = tcp_listeners(port);
  if (there.empty()) {
    return {.allowed = false, .errnum = ECONNREFUSED, .to_proxy = false};
  }
  // All of them: which one the kernel would choose is not for us to guess.
  const bool own = std::ranges::all_of(
      there, [this](std::uint64_t inode) { return listening_.contains(inode); });
  if (own || loop_.rules.named(address, port) != nullptr) {
    return {.allowed = true, .errnum = 0, .to_proxy = false};
  }
  refuse(EgressVia::Connect, address, port, "it is a service of the host's, not of the session's");
  return {.allowed = false, .errnum = EACCES, .to_proxy = false};
}

Supervisor::Judgement Supervisor::judge(const Address& address, std::uint16_t port) {
  if (!rules_.loopback_only) {
    if (!is_metadata(address) || loop_.rules.named(address, port) != nullptr) {
      return {.allowed = true, .errnum = 0, .to_proxy = false};
    }
    refuse(EgressVia::Connect, address, port,
           "cloud metadata addresses must be named in the policy's hosts");
    return {.allowed = false, .errnum = EACCES, .to_proxy = false};
  }
  if (is_this_machine(address)) {
    return judge_loopback(address, port);
  }
  if (loop_.rules.named(address, port) != nullptr) {
    return {.allowed = true, .errnum = 0, .to_proxy = false};
  }
  refuse(EgressVia::Connect, address, port,
         "a direct connection; names go through the proxy in HTTPS_PROXY");
  return {.allowed = false, .errnum = EACCES, .to_proxy = false};
}

void Supervisor::on_connect(const Notification& notification, os::UniqueFd socket) {
  const auto address = notification.address(1, 2);
  if (!address) {
    notification.answer(address.error());
    return;
  }
  if (address->size >= sizeof(sa_family_t) && address->get()->sa_family == AF_UNSPEC) {
    // Takes a connection apart; makes none.
    notification.answer(errno_unless(::connect(socket.get(), address->get(), address->size) == 0));
    return;
  }
  const auto target = read_target(*address);
  if (!target) {
    notification.answer(EINVAL);
    return;
  }
  const Judgement judgement = judge(target->address, target->port);
  if (judgement.allowed) {
    connect(notification, std::move(socket), *address, judgement.to_proxy);
  } else {
    notification.answer(judgement.errnum);
  }
}

/// A socket that blocks is made not to for the time of the call, so that one slow peer holds up
/// nobody else; who else uses a socket that is not connected yet would see that.
void Supervisor::connect(const Notification& notification, os::UniqueFd socket,
                         const SocketAddress& address, bool to_proxy) {
  const int flags = ::fcntl(socket.get(), F_GETFL);
  const bool blocks = (flags & O_NONBLOCK) == 0;
  if (blocks) {
    (void)::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  }
  const int errnum = errno_unless(::connect(socket.get(), address.get(), address.size) == 0);
  if (to_proxy && loop_.expected_only && (errnum == 0 || errnum == EINPROGRESS)) {
    if (const auto own = own_address(socket)) {
      loop_.expected.insert(own->port);
    }
  }
  // EALREADY: the same call again, after a signal had interrupted it.
  if (blocks && (errnum == EINPROGRESS || errnum == EALREADY)) {
    asio::co_spawn(
        loop_.io,
        [](std::shared_ptr<Supervisor> self, Notification held, os::UniqueFd fd,
           int before) -> asio::awaitable<void> {
          co_await self->finish(held, std::move(fd), before);
        }(shared_from_this(), notification, std::move(socket), flags),
        asio::detached);
    return;
  }
  if (blocks) {
    (void)::fcntl(socket.get(), F_SETFL, flags);
  }
  notification.answer(errnum);
}

asio::awaitable<void> Supervisor::finish(Notification notification, os::UniqueFd socket,
                                         int flags) {
  const auto patience = send_timeout(socket);
  asio::posix::stream_descriptor waiting(loop_.io, socket.release());
  asio::steady_timer timer(loop_.io);
  bool late = false;
  if (patience.count() > 0) {
    timer.expires_after(patience);
    timer.async_wait([&waiting, &late](boost::system::error_code error) {
      if (!error) {
        late = true;
        waiting.cancel(error);
      }
    });
  }
  (void)co_await waiting.async_wait(asio::posix::stream_descriptor::wait_write, kAsValues);
  timer.cancel();
  socket.reset(waiting.release());
  (void)::fcntl(socket.get(), F_SETFL, flags);
  notification.answer(late ? EINPROGRESS : option_of(socket, SO_ERROR));
}

void Supervisor::on_bind(const Notification& notification, const os::UniqueFd& socket) {
  auto address = notification.address(1, 2);
  if (!address) {
    notification.answer(address.error());
    return;
  }
  const auto target = read_target(*address);
  if (!target) {
    notification.answer(EINVAL);
    return;
  }
  const bool everywhere = target->address.bytes == std::array<std::uint8_t, 16>{};
  if ((!everywhere && !is_this_machine(target->address)) ||
      (target->port != 0 && target->port < kFirstFreePort)) {
    refuse(EgressVia::Bind, target->address, target->port,
           "servers of the session listen on loopback, from port 1024 on");
    notification.answer(EACCES);
    return;
  }
  if (everywhere) {
    *address = loopback_for(socket, address->get()->sa_family, target->port);
  }
  notification.answer(errno_unless(::bind(socket.get(), address->get(), address->size) == 0));
}

void Supervisor::on_listen(const Notification& notification, const os::UniqueFd& socket) {
  auto own = own_address(socket);
  if (own && own->port == 0) {
    // listen(2) would bind it to every address of the machine.
    const SocketAddress loopback = loopback_for(socket, option_of(socket, SO_DOMAIN), 0);
    own = ::bind(socket.get(), loopback.get(), loopback.size) == 0 ? own_address(socket)
                                                                   : std::nullopt;
  }
  if (!own || !is_this_machine(own->address) ||
      own->address.bytes == decltype(own->address.bytes){}) {
    notification.answer(EACCES);
    return;
  }
  const int errnum =
      errno_unless(::listen(socket.get(), static_cast<int>(notification.argument(1))) == 0);
  struct stat status{};
  if (errnum == 0 && ::fstat(socket.get(), &status) == 0) {
    listening_.insert(status.st_ino);
  }
  notification.answer(errnum);
}

}  // namespace bawn::sandbox::net
