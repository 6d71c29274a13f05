#include "bawn/os/library_thread.hpp"
#include "loop.hpp"

#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include <netdb.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace bawn::sandbox::net {
namespace {

constexpr std::size_t kMaxResolving = 16;
using Answer = Result<std::vector<std::string>>;

/// Blocking, on a thread of its own.
Answer ask_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    return contract::fail(ErrorCode::NotFound, ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> held(list, &::freeaddrinfo);
  std::vector<std::string> found;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) ==
        0) {
      found.emplace_back(text);
    }
  }
  return found;
}

/// What the waiting coroutine holds and the resolving thread fills.
struct Pending {
  explicit Pending(asio::io_context& io) : done(io, asio::steady_timer::time_point::max()) {}
  asio::steady_timer done;
  std::optional<Answer> answer;
};

Result<std::vector<Address>> read_answer(const Answer& answer) {
  if (!answer) {
    return std::unexpected(answer.error());
  }
  std::vector<Address> addresses;
  for (const std::string& text : *answer) {
    // A zone ("%eth0") names an interface of this machine: nothing that a session may choose.
    const auto address = parse_address(text);
    if (address && std::ranges::find(addresses, *address) == addresses.end()) {
      addresses.push_back(*address);
    }
  }
  if (addresses.empty()) {
    return contract::fail(ErrorCode::NotFound, "the name has no address");
  }
  return addresses;
}

}  // namespace

asio::ip::address to_asio(const Address& address) {
  if (address.v6) {
    return asio::ip::address_v6(address.bytes);
  }
  return asio::ip::address_v4(
      {address.bytes[0], address.bytes[1], address.bytes[2], address.bytes[3]});
}

asio::awaitable<Result<std::vector<Address>>> resolve(Loop& loop, std::string host) {
  if (loop.resolving >= kMaxResolving) {
    co_return contract::fail(ErrorCode::ResourceExhausted, "too many names are being resolved");
  }
  const auto pending = std::make_shared<Pending>(loop.io);
  // The thread may outlive the loop: it owns nothing of it, and comes back by its door only.
  auto started = os::start_library_thread(
      [door = loop.door, ask = loop.options.resolve, waiting = std::weak_ptr(pending), host] {
        Answer answer = ask ? ask(host) : ask_system(host);
        door->post([waiting, answer = std::move(answer)](Loop& alive) mutable {
          --alive.resolving;
          if (const auto there = waiting.lock()) {
            there->answer = std::move(answer);
            there->done.cancel();
          }
        });
      });
  if (!started) {
    co_return std::unexpected(std::move(started).error());
  }
  ++loop.resolving;
  if (!pending->answer) {
    (void)co_await pending->done.async_wait(kAsValues);
  }
  if (!pending->answer) {
    co_return contract::fail(ErrorCode::DeadlineExceeded, "the name was not resolved in time");
  }
  co_return read_answer(*pending->answer);
}

}  // namespace bawn::sandbox::net
