#include "tunnel.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <utility>

namespace bawn::sandbox::net {
namespace {

constexpr std::chrono::milliseconds kNoDescriptors{100};

/// Without a network namespace: is it one of the supervisor's own connections?
bool is_expected(Loop& loop, const tcp::socket& client) {
  boost::system::error_code error;
  const tcp::endpoint from = client.remote_endpoint(error);
  return !loop.expected_only || (!error && loop.expected.erase(from.port()) == 1);
}

void turn_away(tcp::socket client) {
  const std::string answer =
      to_response({503, "the session has as many connections open as it may have; close some"});
  boost::system::error_code ignored;
  client.non_blocking(true, ignored);
  (void)client.write_some(asio::buffer(answer), ignored);
}

}  // namespace

asio::awaitable<void> serve_proxy(Loop& loop, tcp::acceptor acceptor) {
  asio::steady_timer pause(loop.io);
  while (true) {
    auto [error, client] = co_await acceptor.async_accept(kAsValues);
    if (error == asio::error::operation_aborted) {
      co_return;
    }
    if (error) {
      // Out of descriptors: the waiting client is still there, and accept(2) would fail in a
      // circle.
      pause.expires_after(kNoDescriptors);
      (void)co_await pause.async_wait(kAsValues);
      continue;
    }
    if (!is_expected(loop, client)) {
      continue;
    }
    if (loop.connections >= loop.options.connections) {
      turn_away(std::move(client));
      continue;
    }
    auto tunnel = std::make_shared<Tunnel>(loop, std::move(client));
    asio::co_spawn(
        loop.io,
        [](std::shared_ptr<Tunnel> one) -> asio::awaitable<void> {
          co_await one->run();
        }(std::move(tunnel)),
        asio::detached);
  }
}

}  // namespace bawn::sandbox::net
