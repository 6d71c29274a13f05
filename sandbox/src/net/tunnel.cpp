#include "tunnel.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bawn::sandbox::net {
// GCC 12 destroys a braced or converted temporary in the argument of an awaited call twice (bugs
// 98401 and 99576): such arguments have names here and are moved.

namespace {

constexpr std::size_t kBuffer = std::size_t{64} << 10U;
constexpr std::chrono::milliseconds kNextAddress{4000};

using boost::system::error_code;

Reached not_reached(int status, SocksReply reply, std::string sentence) {
  return {.connected = false, .status = status, .reply = reply, .sentence = std::move(sentence)};
}

Reached refused(std::string sentence) {
  return not_reached(403, SocksReply::NotAllowed, std::move(sentence));
}

}  // namespace

Tunnel::Tunnel(Loop& loop, tcp::socket client)
    : loop_(loop), client_(std::move(client)), server_(loop.io), timer_(loop.io) {
  ++loop_.connections;
}

Tunnel::~Tunnel() {
  --loop_.connections;
}

void Tunnel::close() noexcept {
  error_code ignored;
  client_.close(ignored);
  server_.close(ignored);
}

void Tunnel::set_deadline(std::chrono::milliseconds limit) {
  deadline_ = Clock::now() + limit;
  if (!relaying_ || deadline_ < timer_.expiry()) {
    watch();
  }
}

/// One timer for the tunnel's life: bytes only move the deadline, and it is looked at when the
/// timer fires.
void Tunnel::watch() {
  timer_.expires_at(deadline_);
  timer_.async_wait([self = weak_from_this()](error_code error) {
    const auto tunnel = self.lock();
    if (error || tunnel == nullptr) {
      return;
    }
    if (Clock::now() >= tunnel->deadline_) {
      tunnel->close();
    } else {
      tunnel->watch();
    }
  });
}

asio::awaitable<void> Tunnel::run() {
  const auto self = shared_from_this();
  set_deadline(loop_.options.head);
  error_code ignored;
  client_.set_option(tcp::no_delay(true), ignored);
  if (co_await fill()) {
    if (input_.front() == 5) {
      co_await serve_socks();
    } else {
      co_await serve_http();
    }
  }
  timer_.cancel();
  close();
}

/// More input from the client; false at its end or beyond what a head may have.
asio::awaitable<bool> Tunnel::fill() {
  if (input_.size() >= kMaxHead) {
    co_return false;
  }
  const std::size_t before = input_.size();
  input_.resize(before + 4096);
  auto [error, count] =
      co_await client_.async_read_some(asio::buffer(input_.data() + before, 4096), kAsValues);
  input_.resize(before + (error ? 0 : count));
  co_return !error && count > 0;
}

asio::awaitable<bool> Tunnel::send_client(std::string text) {
  auto [error, count] = co_await asio::async_write(client_, asio::buffer(text), kAsValues);
  co_return !error && count == text.size();
}

asio::awaitable<void> Tunnel::refuse_http(int status, std::string sentence) {
  std::string answer = to_response({status, std::move(sentence)});
  (void)co_await send_client(std::move(answer));
  // A close with unread input would reset the connection, and the answer with it.
  error_code ignored;
  client_.shutdown(tcp::socket::shutdown_send, ignored);
  set_deadline(std::chrono::milliseconds(2000));
  std::string waste(4096, '\0');
  for (std::size_t total = 0; total < 64 * waste.size();) {
    auto [error, count] = co_await client_.async_read_some(asio::buffer(waste), kAsValues);
    if (error) {
      break;
    }
    total += count;
  }
}

asio::awaitable<void> Tunnel::serve_socks() {
  SocksGreeting greeting;
  while ((greeting = read_socks_greeting(input_)).state == SocksState::NeedMore) {
    if (!co_await fill()) {
      co_return;
    }
  }
  const bool accepted = greeting.state == SocksState::Complete && greeting.without_password;
  input_.erase(0, greeting.size);
  std::string method = socks_method(accepted);
  if (!co_await send_client(std::move(method)) || !accepted) {
    co_return;
  }
  SocksRequest request;
  while ((request = read_socks_request(input_)).state == SocksState::NeedMore) {
    if (!co_await fill()) {
      co_return;
    }
  }
  if (request.state == SocksState::Malformed) {
    std::string answer = socks_reply(request.error);
    (void)co_await send_client(std::move(answer));
    co_return;
  }
  input_.erase(0, request.size);
  const Reached reached = co_await reach(EgressVia::Socks5, request.host, request.port);
  std::string reply = socks_reply(reached.connected ? SocksReply::Done : reached.reply);
  if (co_await send_client(std::move(reply)) && reached.connected) {
    co_await relay();
  }
}

asio::awaitable<void> Tunnel::serve_http() {
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (!co_await fill()) {
      if (input_.size() >= kMaxHead) {
        std::string sentence = "the head of the request is longer than 16 KiB";
        co_await refuse_http(431, std::move(sentence));
      }
      co_return;
    }
  }
  auto request = parse_request(std::string_view(input_).substr(0, end + 4));
  input_.erase(0, end + 4);
  if (!request) {
    std::string sentence = request.error().sentence;
    co_await refuse_http(request.error().status, std::move(sentence));
    co_return;
  }
  const EgressVia via = request->connect ? EgressVia::HttpConnect : EgressVia::Http;
  Reached reached = co_await reach(via, request->host, request->port);
  if (!reached.connected) {
    co_await refuse_http(reached.status, std::move(reached.sentence));
    co_return;
  }
  if (!request->connect) {
    co_await forward(*std::move(request));
    co_return;
  }
  std::string established = "HTTP/1.1 200 Connection established\r\n\r\n";
  if (co_await send_client(std::move(established))) {
    co_await relay();
  }
}

/// Decides, resolves and connects. Everything that is decided is in the log.
asio::awaitable<Reached> Tunnel::reach(EgressVia via, std::string host, std::uint16_t port) {
  set_deadline(loop_.options.connect);
  EgressDecision decision;
  decision.via = via;
  decision.host = host;
  decision.port = port;
  const auto refuse = [&](std::string why) {
    decision.rule = why;
    loop_.log.add(std::move(decision));
    return refused(fmt::format("the session's policy does not allow {}:{}: {}",
                               host.size() > 255 ? "this host" : host, port, why));
  };
  const auto name = normalise_host(host);
  if (!name) {
    co_return refuse(name.error().message());
  }
  decision.host = host = *name;
  const Verdict verdict = loop_.rules.check_host(host, port);
  if (!verdict.allowed) {
    co_return refuse(verdict.rule);
  }
  decision.rule = verdict.rule;
  std::vector<Address> addresses;
  if (const auto fixed = loop_.rules.fixed(host)) {
    addresses.push_back(fixed->address);
    port = fixed->port != 0 ? fixed->port : port;
  } else if (const auto literal = parse_address(host)) {
    addresses.push_back(*literal);
  } else {
    auto resolved = co_await resolve(loop_, host);
    if (!resolved) {
      decision.allowed = true;
      decision.failure = resolved.error().message();
      loop_.log.add(decision);
      co_return not_reached(
          502, SocksReply::HostUnreachable,
          fmt::format("{} cannot be resolved: {}", host, resolved.error().message()));
    }
    // The addresses that are checked here are the ones that are connected to: a name that answers
    // differently the next time gains nothing.
    std::string why;
    for (const Address& address : *resolved) {
      const Verdict place = loop_.rules.check_address(address, port);
      if (place.allowed) {
        addresses.push_back(address);
      } else if (why.empty()) {
        why = place.rule;
        decision.address = to_string(address);
      }
    }
    if (addresses.empty()) {
      co_return refuse(why);
    }
  }
  decision.address.clear();
  decision.allowed = true;
  number_ = loop_.log.add(std::move(decision));
  co_return co_await connect_first(std::move(addresses), port);
}

asio::awaitable<Reached> Tunnel::connect_first(std::vector<Address> addresses, std::uint16_t port) {
  error_code failure = asio::error::host_unreachable;
  for (std::size_t at = 0; at < addresses.size() && client_.is_open(); ++at) {
    const tcp::endpoint endpoint(to_asio(addresses[at]), port);
    loop_.log.set_address(number_, to_string(addresses[at]));
    server_ = tcp::socket(loop_.io);
    // With more addresses left one that does not answer must not use up all the time.
    asio::steady_timer patience(loop_.io);
    if (at + 1 < addresses.size()) {
      patience.expires_after(kNextAddress);
      patience.async_wait([self = shared_from_this()](error_code error) {
        error_code ignored;
        if (!error) {
          self->server_.close(ignored);
        }
      });
    }
    auto [error] = co_await server_.async_connect(endpoint, kAsValues);
    patience.cancel();
    if (!error) {
      error_code ignored;
      server_.set_option(tcp::no_delay(true), ignored);
      co_return Reached{
          .connected = true, .status = 200, .reply = SocksReply::Done, .sentence = {}};
    }
    failure = error == asio::error::operation_aborted ? asio::error::timed_out : error;
  }
  loop_.log.set_failure(number_, failure.message());
  const bool is_refused = failure == asio::error::connection_refused;
  co_return not_reached(
      failure == asio::error::timed_out ? 504 : 502,
      is_refused ? SocksReply::Refused : SocksReply::HostUnreachable,
      fmt::format("the host is allowed, but cannot be reached: {}", failure.message()));
}

/// One request with its body, and nothing behind it; the answer ends with the connection.
asio::awaitable<void> Tunnel::forward(ProxyRequest request) {
  relaying_ = true;
  set_deadline(loop_.options.idle);
  const auto self = shared_from_this();
  auto [error, count] = co_await asio::async_write(server_, asio::buffer(request.head), kAsValues);
  if (error) {
    co_return;
  }
  loop_.log.add_bytes(number_, count, 0);
  asio::co_spawn(
      loop_.io,
      [](std::shared_ptr<Tunnel> tunnel, ProxyRequest sent) -> asio::awaitable<void> {
        BodyEnd body(sent);
        while (!body.done()) {
          if (tunnel->input_.empty() && !co_await tunnel->fill()) {
            co_return;
          }
          const auto part = body.take(tunnel->input_);
          if (!part) {
            tunnel->close();  // what follows could be taken for another request
            co_return;
          }
          auto [failed, written] = co_await asio::async_write(
              tunnel->server_, asio::buffer(tunnel->input_.data(), *part), kAsValues);
          tunnel->loop_.log.add_bytes(tunnel->number_, written, 0);
          tunnel->set_deadline(tunnel->loop_.options.idle);
          if (failed) {
            co_return;
          }
          tunnel->input_.erase(0, *part);
        }
        // A client that goes on because its server did not say "close" must use a new connection.
        if (!tunnel->input_.empty() || co_await tunnel->fill()) {
          tunnel->close();
        }
      }(self, std::move(request)),
      asio::detached);
  co_await pump(server_, client_, false);
}

asio::awaitable<void> Tunnel::relay() {
  relaying_ = true;
  set_deadline(loop_.options.idle);
  const auto self = shared_from_this();
  if (!input_.empty()) {
    auto [error, count] = co_await asio::async_write(server_, asio::buffer(input_), kAsValues);
    loop_.log.add_bytes(number_, count, 0);
    if (error) {
      co_return;
    }
    input_.clear();
  }
  // Whichever side ends first is passed on as an end of its direction only.
  asio::steady_timer both(loop_.io, asio::steady_timer::time_point::max());
  bool up_done = false;
  asio::co_spawn(loop_.io, pump(client_, server_, true),
                 [self, &both, &up_done](const std::exception_ptr&) {
                   up_done = true;
                   both.cancel();
                 });
  co_await pump(server_, client_, false);
  if (!up_done) {
    (void)co_await both.async_wait(kAsValues);
  }
}

asio::awaitable<void> Tunnel::pump(tcp::socket& from, tcp::socket& to, bool up) {
  std::vector<char> buffer(kBuffer);
  while (true) {
    auto [error, count] = co_await from.async_read_some(asio::buffer(buffer), kAsValues);
    if (error) {
      break;
    }
    auto [failed, written] =
        co_await asio::async_write(to, asio::buffer(buffer.data(), count), kAsValues);
    loop_.log.add_bytes(number_, up ? written : 0, up ? 0 : written);
    set_deadline(loop_.options.idle);
    if (failed) {
      close();
      co_return;
    }
  }
  error_code ignored;
  to.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace bawn::sandbox::net
