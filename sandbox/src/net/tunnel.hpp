/// \file
/// One client of the proxy: from its first byte to the end of its tunnel.
#pragma once

#include "http_request.hpp"
#include "loop.hpp"
#include "socks.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bawn::sandbox::net {

/// What came of asking for a host: connected, or a sentence and how to say it.
struct Reached {
  bool connected = false;
  int status = 502;                        ///< for HTTP
  SocksReply reply = SocksReply::Failure;  ///< for SOCKS
  std::string sentence;
};

class Tunnel : public std::enable_shared_from_this<Tunnel> {
 public:
  Tunnel(Loop& loop, tcp::socket client);
  ~Tunnel();
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  /// Serves the client; holds itself until then.
  asio::awaitable<void> run();

 private:
  using Clock = std::chrono::steady_clock;

  asio::awaitable<void> serve_socks();
  asio::awaitable<void> serve_http();
  asio::awaitable<void> forward(ProxyRequest request);
  asio::awaitable<void> refuse_http(int status, std::string sentence);
  asio::awaitable<Reached> reach(EgressVia via, std::string host, std::uint16_t port);
  asio::awaitable<Reached> connect_first(std::vector<Address> addresses, std::uint16_t port);
  asio::awaitable<bool> fill();
  asio::awaitable<bool> send_client(std::string text);
  asio::awaitable<void> relay();
  asio::awaitable<void> pump(tcp::socket& from, tcp::socket& to, bool up);

  void set_deadline(std::chrono::milliseconds limit);
  void watch();
  void close() noexcept;

  Loop& loop_;
  tcp::socket client_;
  tcp::socket server_;
  asio::steady_timer timer_;
  Clock::time_point deadline_{};
  bool relaying_ = false;     ///< each byte moves the deadline
  std::string input_;         ///< read from the client and not yet used
  std::uint64_t number_ = 0;  ///< of the decision
};

}  // namespace bawn::sandbox::net
