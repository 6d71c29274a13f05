// The proxy over real sockets: a client, a server behind it, and names that a test resolves.
#include "bawn/sandbox/egress.hpp"

#include "bawn/sandbox/plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <string>
#include <thread>

namespace bawn::sandbox {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using testing::StartsWith;

os::UniqueFd listening(std::uint16_t& port) {
  os::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(fd.get(), 64), 0);
  EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  port = ntohs(address.sin_port);
  return fd;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Blocking with a limit, so that a proxy that does not answer fails the test.
class Peer {
 public:
  explicit Peer(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    limit();
  }
  explicit Peer(os::UniqueFd fd) : fd_(std::move(fd)) { limit(); }

  void send(const std::string& text) const {
    EXPECT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  void end() const { ::shutdown(fd_.get(), SHUT_WR); }
  /// At least `size` bytes, or all there is until the end.
  [[nodiscard]] std::string receive(std::size_t size = ~std::size_t{0}) const {
    std::string text;
    char buffer[4096];
    while (text.size() < size) {
      const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (count <= 0) {
        break;
      }
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }
  /// Its other side has closed it: an end or a reset, and not only silence.
  [[nodiscard]] bool was_closed() const {
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::recv(fd_.get(), buffer, sizeof buffer, 0)) > 0) {
    }
    return count == 0 || errno == ECONNRESET;
  }

 private:
  void limit() const {
    const timeval wait{10, 0};
    (void)::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  }
  os::UniqueFd fd_;
};

/// Accepts one connection at a time and hands it to the test.
class Server {
 public:
  Server() : listener_(listening(port_)) {}
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] Peer accept() const {
    pollfd waiting{listener_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&waiting, 1, 10'000), 1) << "nobody connects";
    return Peer(os::UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }
  [[nodiscard]] bool was_asked() const {
    pollfd waiting{listener_.get(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }

 private:
  std::uint16_t port_ = 0;
  os::UniqueFd listener_;
};

class EgressTest : public testing::Test {
 protected:
  void start(std::vector<std::string> hosts) {
    NetworkPlan plan;
    plan.proxy = plan.inside = true;
    plan.hosts = std::move(hosts);
    plan.host_addresses = fixed_;
    std::uint16_t port = 0;
    os::UniqueFd listener = listening(port);
    auto egress = Egress::start(plan, std::move(listener), options_);
    ASSERT_TRUE(egress) << egress.error().message();
    egress_ = *std::move(egress);
  }
  void resolve_by(std::function<contract::Result<std::vector<std::string>>(const std::string&)> f) {
    options_.resolve = std::move(f);
  }
  [[nodiscard]] Peer client() const { return Peer(egress_->port()); }
  [[nodiscard]] std::string ask(const std::string& text) const {
    const Peer peer = client();
    peer.send(text);
    return peer.receive();
  }
  [[nodiscard]] std::string connect_to(const std::string& authority) const {
    return ask("CONNECT " + authority + " HTTP/1.1\r\n\r\n");
  }
  [[nodiscard]] EgressDecision last() const {
    const auto all = egress_->decisions(0);
    return all.empty() ? EgressDecision{} : all.back();
  }

  Egress::Options options_;
  std::map<std::string, std::string> fixed_;
  Server server_;
  std::shared_ptr<Egress> egress_;
};

TEST_F(EgressTest, ATunnelCarriesBytesBothWaysAndTheirEnds) {
  fixed_ = {{"a.test", fmt::format("127.0.0.1:{}", server_.port())}};
  start({"a.test:443"});
  const Peer peer = client();
  peer.send("CONNECT a.test:443 HTTP/1.1\r\n\r\nearly");
  const Peer served = server_.accept();
  EXPECT_THAT(peer.receive(1), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(served.receive(5), "early");
  served.send("hello");
  EXPECT_EQ(peer.receive(5), "hello");
  peer.send("last");
  peer.end();
  EXPECT_EQ(served.receive(), "last") << "the end of one direction only";
  served.send("more");
  served.end();
  EXPECT_EQ(peer.receive(), "more");
  EXPECT_TRUE(last().allowed);
  EXPECT_EQ(last().host, "a.test");
  EXPECT_EQ(last().address, "127.0.0.1");
  EXPECT_EQ(last().sent, 9U);
  EXPECT_EQ(last().received, 9U);
  EXPECT_EQ(last().evidence(), "proxy");
}

TEST_F(EgressTest, ARefusalIsExplainedInItsBody) {
  start({"a.test"});
  EXPECT_THAT(connect_to("b.test:443"), HasSubstr("403 Forbidden"));
  EXPECT_THAT(ask("GET http://b.test/ HTTP/1.1\r\n\r\n"),
              HasSubstr("bawn: the session's policy does not allow b.test:80: no entry of hosts "
                        "names this host.\n"));
  EXPECT_FALSE(last().allowed);
  EXPECT_EQ(last().via, EgressVia::Http);
  EXPECT_EQ(last().rule, "no entry of hosts names this host");
}

TEST_F(EgressTest, AForwardedRequestIsTheOnlyOneOfItsConnection) {
  fixed_ = {{"a.test", fmt::format("127.0.0.1:{}", server_.port())}};
  start({"a.test"});
  const Peer peer = client();
  peer.send(
      "POST http://a.test/x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc"
      "GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n");
  const Peer served = server_.accept();
  EXPECT_EQ(served.receive(),
            "POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\nConnection: "
            "close\r\n\r\nabc");
}

TEST_F(EgressTest, ANameThatLeadsToAPrivateAddressIsRefused) {
  resolve_by([](const std::string&) { return std::vector<std::string>{"127.0.0.1"}; });
  start({fmt::format("a.test:{}", server_.port())});
  EXPECT_THAT(connect_to(fmt::format("a.test:{}", server_.port())), HasSubstr("is loopback"));
  EXPECT_FALSE(last().allowed);
  EXPECT_EQ(last().address, "127.0.0.1");
  EXPECT_FALSE(server_.was_asked());
}

TEST_F(EgressTest, ANameThatLeadsToANamedAddressIsReached) {
  resolve_by([](const std::string&) { return std::vector<std::string>{"127.0.0.1"}; });
  start({fmt::format("a.test:{}", server_.port()), fmt::format("127.0.0.1:{}", server_.port())});
  const Peer peer = client();
  peer.send(fmt::format("CONNECT a.test:{} HTTP/1.1\r\n\r\n", server_.port()));
  const Peer served = server_.accept();
  EXPECT_THAT(peer.receive(1), StartsWith("HTTP/1.1 200 "));
}

TEST_F(EgressTest, ASecondAnswerOfANameGainsNothing) {
  std::atomic<int> asked = 0;
  resolve_by([&asked](const std::string&) {
    // Public first, loopback when asked again: each look-up is judged, and what was judged is used.
    return std::vector<std::string>{asked++ == 0 ? "192.88.99.1" : "127.0.0.1"};
  });
  start({"*:*"});
  EXPECT_THAT(connect_to(fmt::format("a.test:{}", server_.port())), HasSubstr("403"));
  EXPECT_THAT(connect_to(fmt::format("a.test:{}", server_.port())), HasSubstr("is loopback"));
  EXPECT_EQ(asked, 2) << "one look-up for one decision";
  EXPECT_FALSE(server_.was_asked());
}

TEST_F(EgressTest, RefusedAddressesAmongOthersAreLeftOut) {
  resolve_by([](const std::string&) {
    return std::vector<std::string>{"169.254.169.254", "::ffff:127.0.0.1", "10.0.0.1", "127.0.0.1"};
  });
  start({"a.test:*", fmt::format("127.0.0.1:{}", server_.port())});
  const Peer peer = client();
  peer.send(fmt::format("CONNECT a.test:{} HTTP/1.1\r\n\r\n", server_.port()));
  const Peer served = server_.accept();
  EXPECT_THAT(peer.receive(1), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(last().address, "127.0.0.1");
}

TEST_F(EgressTest, LiteralAddressesMustBeNamed) {
  start({"*:*"});
  for (const char* authority : {"169.254.169.254:80", "127.0.0.1:80", "[::1]:80", "10.0.0.1:80",
                                "[::ffff:169.254.169.254]:80", "8.8.8.8:53", "127.1:80",
                                "2130706433:80", "0x7f000001:80", "localhost.:80"}) {
    resolve_by({});
    const std::string answer = connect_to(authority);
    EXPECT_THAT(answer, HasSubstr("HTTP/1.1 403")) << authority;
  }
}

TEST_F(EgressTest, SocksIsJudgedAlike) {
  fixed_ = {{"a.test", fmt::format("127.0.0.1:{}", server_.port())}};
  start({"a.test:80"});
  const Peer peer = client();
  peer.send("\x05\x01\x00"s);
  EXPECT_EQ(peer.receive(2), "\x05\x00"s);
  peer.send("\x05\x01\x00\x03\x06"s + "a.test" + "\x00\x50"s);
  const Peer served = server_.accept();
  EXPECT_EQ(peer.receive(10).substr(0, 2), "\x05\x00"s);
  peer.send("ping");
  EXPECT_EQ(served.receive(4), "ping");

  const Peer literal = client();
  literal.send("\x05\x01\x00"s);
  EXPECT_EQ(literal.receive(2), "\x05\x00"s);
  literal.send("\x05\x01\x00\x01\xa9\xfe\xa9\xfe\x00\x50"s);
  EXPECT_EQ(literal.receive(10).substr(0, 2), "\x05\x02"s) << "not allowed by the rules";
  EXPECT_EQ(last().host, "169.254.169.254");
  EXPECT_EQ(last().via, EgressVia::Socks5);
}

TEST_F(EgressTest, AHostThatCannotBeReachedIsNoRefusal) {
  std::uint16_t closed = 0;
  {
    const os::UniqueFd gone = listening(closed);
  }
  fixed_ = {{"a.test", fmt::format("127.0.0.1:{}", closed)}};
  resolve_by([](const std::string&) -> contract::Result<std::vector<std::string>> {
    return contract::fail(contract::ErrorCode::NotFound, "no such name");
  });
  start({"a.test", "b.test"});
  EXPECT_THAT(connect_to("a.test:443"), HasSubstr("502"));
  EXPECT_TRUE(last().allowed);
  EXPECT_NE(last().failure, "");
  EXPECT_THAT(connect_to("b.test:443"), HasSubstr("cannot be resolved: no such name"));
}

TEST_F(EgressTest, ASlowResolverHoldsUpNobodyElse) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  resolve_by([released](const std::string&) {
    released.wait();
    return std::vector<std::string>{"127.0.0.1"};
  });
  fixed_ = {{"a.test", fmt::format("127.0.0.1:{}", server_.port())}};
  start({"slow.test", "a.test"});
  const Peer waiting = client();
  waiting.send("CONNECT slow.test:443 HTTP/1.1\r\n\r\n");
  const Peer peer = client();
  peer.send("CONNECT a.test:443 HTTP/1.1\r\n\r\n");
  const Peer served = server_.accept();
  EXPECT_THAT(peer.receive(1), StartsWith("HTTP/1.1 200 "));
  release.set_value();
  EXPECT_THAT(waiting.receive(), HasSubstr("403"));
}

TEST_F(EgressTest, ClientsThatSayNothingAreCutOff) {
  options_.head = std::chrono::milliseconds(50);
  start({"a.test"});
  const Peer silent = client();
  EXPECT_TRUE(silent.was_closed());
  const Peer slow = client();
  slow.send("GET http://a.t");
  EXPECT_TRUE(slow.was_closed());
}

TEST_F(EgressTest, AnIdleTunnelIsCutOff) {
  options_.head = options_.connect = std::chrono::hours(1);
  options_.idle = std::chrono::milliseconds(50);
  fixed_ = {{"a.test", fmt::format("127.0.0.1:{}", server_.port())}};
  start({"a.test"});
  const Peer peer = client();
  peer.send("CONNECT a.test:443 HTTP/1.1\r\n\r\n");
  const Peer served = server_.accept();
  EXPECT_TRUE(served.was_closed());
  EXPECT_TRUE(peer.was_closed());
}

TEST_F(EgressTest, AHeadWithoutEndIsRefused) {
  start({"a.test"});
  EXPECT_THAT(ask("GET http://a.test/ HTTP/1.1\r\nA: " + std::string(20000, 'x')),
              HasSubstr("431"));
}

TEST_F(EgressTest, MoreConnectionsThanAllowedAreTurnedAwayWithAWord) {
  options_.connections = 1;
  start({"a.test"});
  const Peer first = client();
  first.send("G");
  std::string answer;
  for (int tries = 0; tries < 100 && answer.empty(); ++tries) {
    answer = client().receive();  // until the first one was accepted
  }
  EXPECT_THAT(answer, HasSubstr("503"));
}

TEST_F(EgressTest, TheLogIsBounded) {
  options_.log_entries = 3;
  start({"a.test"});
  for (int at = 0; at < 5; ++at) {
    (void)connect_to(fmt::format("b{}.test:443", at));
  }
  const auto all = egress_->decisions(0);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all.front().number, 3U);
  EXPECT_EQ(egress_->decisions(4).size(), 1U);
  EXPECT_EQ(egress_->last_number(), 5U);
}

TEST_F(EgressTest, EndsWithItsConnectionsOpen) {
  fixed_ = {{"a.test", fmt::format("127.0.0.1:{}", server_.port())}};
  start({"a.test"});
  const Peer peer = client();
  peer.send("CONNECT a.test:443 HTTP/1.1\r\n\r\n");
  const Peer served = server_.accept();
  (void)peer.receive(1);
  egress_.reset();
  EXPECT_TRUE(served.was_closed());
  EXPECT_TRUE(peer.was_closed());
}

TEST_F(EgressTest, NothingOfItIsLeftWhenItEnds) {
  // A tunnel, a client that says nothing and a name that is never resolved: all wait in the loop.
  fixed_ = {{"a.test", fmt::format("127.0.0.1:{}", server_.port())}};
  std::promise<void> never;
  resolve_by([released = never.get_future().share()](const std::string&) {
    released.wait();
    return std::vector<std::string>{};
  });
  const auto session = [&] {
    start({"a.test:443", "slow.test"});
    const Peer silent = client();
    const Peer waiting = client();
    waiting.send("CONNECT slow.test:443 HTTP/1.1\r\n\r\n");
    const Peer peer = client();
    peer.send("CONNECT a.test:443 HTTP/1.1\r\n\r\n");
    const Peer served = server_.accept();
    EXPECT_THAT(peer.receive(1), StartsWith("HTTP/1.1 200 "));
    egress_.reset();
  };
  session();
  const std::size_t before = open_descriptors();
  for (int at = 0; at < 5; ++at) {
    session();
  }
  EXPECT_EQ(open_descriptors(), before);
  never.set_value();
}

TEST_F(EgressTest, ANameMayBeResolvedAfterTheEnd) {
  const auto ended = std::make_shared<std::promise<void>>();
  auto thread_ended = ended->get_future();
  std::shared_ptr<void> held(nullptr, [ended](void*) { ended->set_value(); });
  std::promise<void> asked;
  std::promise<void> release;
  resolve_by([last = std::move(held), &asked,
              released = release.get_future().share()](const std::string&) {
    asked.set_value();
    released.wait();
    return std::vector<std::string>{"127.0.0.1"};
  });
  start({"slow.test"});
  const Peer waiting = client();
  waiting.send("CONNECT slow.test:443 HTTP/1.1\r\n\r\n");
  ASSERT_EQ(asked.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  egress_.reset();
  EXPECT_TRUE(waiting.was_closed());
  resolve_by({});  // the resolving thread has the last one now
  release.set_value();
  EXPECT_EQ(thread_ended.wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

}  // namespace
}  // namespace bawn::sandbox
