#include "bawn/sandbox/egress.hpp"

#include "bawn/os/library_thread.hpp"
#include "bawn/sandbox/plan.hpp"
#include "net/loop.hpp"
#include "net/supervisor.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <future>
#include <utility>

namespace bawn::sandbox {
namespace {

/// On the host's loopback, at a port of the kernel's choice.
Result<os::UniqueFd> listen_on_loopback() {
  os::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!fd.is_open() ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return std::unexpected(Error::from_errno(errno, "listen", "cannot open the session's proxy"));
  }
  return fd;
}

Result<std::uint16_t> port_of(const os::UniqueFd& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      address.sin_family != AF_INET) {
    return std::unexpected(
        Error::from_errno(errno, "getsockname", "cannot open the session's proxy"));
  }
  return ntohs(address.sin_port);
}

/// The thread is detached and ends by itself; the destructor waits until it no longer uses the
/// loop, and then drops what still waits in it.
class NetworkThread final : public Egress {
 public:
  NetworkThread(std::unique_ptr<net::Loop> loop, net::Supervisor::Rules rules)
      : loop_(std::move(loop)),
        supervisor_(std::make_shared<net::Supervisor>(*loop_, rules)),
        port_(rules.proxy_port),
        work_(loop_->io.get_executor()) {}
  ~NetworkThread() override {
    loop_->io.stop();
    if (ended_.valid()) {
      ended_.wait();
    }
  }
  NetworkThread(const NetworkThread&) = delete;
  NetworkThread& operator=(const NetworkThread&) = delete;

  Result<> run(os::UniqueFd listener) {
    if (listener.is_open()) {
      net::tcp::acceptor acceptor(loop_->io, net::tcp::v4(), listener.get());
      (void)listener.release();
      boost::asio::co_spawn(loop_->io, net::serve_proxy(*loop_, std::move(acceptor)),
                            boost::asio::detached);
    }
    auto done = std::make_shared<std::promise<void>>();
    ended_ = done->get_future();
    auto started = os::start_library_thread([&io = loop_->io, done] {
      io.run();
      done->set_value();
    });
    if (!started) {
      ended_ = {};
    }
    return started;
  }

  void supervise(os::UniqueFd listener) override {
    boost::asio::post(loop_->io, [supervisor = supervisor_,
                                  fd = std::make_shared<os::UniqueFd>(std::move(listener))] {
      supervisor->add(std::move(*fd));
    });
  }
  [[nodiscard]] std::uint16_t port() const noexcept override { return port_; }
  [[nodiscard]] std::vector<EgressDecision> decisions(std::uint64_t after) const override {
    return loop_->log.after(after);
  }
  [[nodiscard]] std::uint64_t last_number() const override { return loop_->log.last(); }

 private:
  std::unique_ptr<net::Loop> loop_;
  std::shared_ptr<net::Supervisor> supervisor_;
  std::uint16_t port_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::future<void> ended_;
};

}  // namespace

std::string_view to_string(EgressVia via) noexcept {
  switch (via) {
    case EgressVia::HttpConnect:
      return "http-connect";
    case EgressVia::Http:
      return "http";
    case EgressVia::Socks5:
      return "socks5";
    case EgressVia::Connect:
      return "connect";
    case EgressVia::Bind:
      return "bind";
  }
  return "connect";
}

std::string_view EgressDecision::evidence() const noexcept {
  return via == EgressVia::Connect || via == EgressVia::Bind ? "notification" : "proxy";
}

contract::Json to_json(const EgressDecision& decision) {
  contract::Json json;
  json["number"] = decision.number;
  json["time"] = fmt::format("{:%Y-%m-%dT%H:%M:%S}Z",
                             fmt::gmtime(std::chrono::system_clock::to_time_t(decision.time)));
  json["via"] = to_string(decision.via);
  json["host"] = decision.host;
  json["port"] = decision.port;
  json["address"] = decision.address;
  json["allowed"] = decision.allowed;
  json["rule"] = decision.rule;
  json["failure"] = decision.failure;
  json["sent"] = decision.sent;
  json["received"] = decision.received;
  return json;
}

Result<std::shared_ptr<Egress>> Egress::start(const NetworkPlan& plan, os::UniqueFd listener,
                                              Options options) {
  Policy policy;
  policy.hosts = plan.hosts;
  policy.host_addresses = plan.host_addresses;
  net::HostRules rules = BAWN_TRY(net::HostRules::make(policy));
  net::Supervisor::Rules supervised{.loopback_only = plan.sockets_inside, .proxy_port = 0};
  if (plan.proxy) {
    if (!plan.inside) {
      listener = BAWN_TRY(listen_on_loopback());
    }
    supervised.proxy_port = BAWN_TRY(port_of(listener));
  }
  try {
    auto loop = std::make_unique<net::Loop>(std::move(rules), std::move(options));
    loop->expected_only = plan.proxy && !plan.inside;
    auto thread = std::make_shared<NetworkThread>(std::move(loop), supervised);
    BAWN_TRY(thread->run(std::move(listener)));
    return thread;
  } catch (const std::exception& error) {
    // Asio's constructors throw when epoll or eventfd cannot be had.
    return contract::fail(ErrorCode::ResourceExhausted,
                          fmt::format("cannot start the session's network: {}", error.what()));
  }
}

}  // namespace bawn::sandbox
