#include "bawn/mcp/http.hpp"
#include "exchange.hpp"
#include "http/connection.hpp"
#include "http/front.hpp"
#include "http/listener.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <future>
#include <stop_token>
#include <thread>
#include <utility>

namespace bawn::mcp {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using contract::Result;
using Clock = std::chrono::steady_clock;

/// The thread that serves the connections, and the way to its end.
class HttpService {
 public:
  HttpService(const Server& server, const HttpOptions& options)
      : front_(std::make_shared<HttpFront>(server.core(), options)),
        signals_(io_),
        room_(io_),
        arrivals_(io_) {}

  Result<HttpEnd> serve() {
    listener_.emplace(BAWN_TRY(Listener::open(front_->options)));
    const int watched = ::fcntl(listener_->fd(), F_DUPFD_CLOEXEC, 3);
    if (watched < 0) {
      return std::unexpected(contract::Error::from_errno(errno, "fcntl", "waiting for clients"));
    }
    arrivals_.assign(watched);
    room_.expires_at(Clock::time_point::max());
    front_->on_change = [this] { changed(); };
    if (front_->options.handle_signals) {
      for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
        signals_.add(number);
      }
      signals_.async_wait([this](const boost::system::error_code& failed, int) {
        boost::system::error_code ignored;
        signals_.clear(ignored);  // a further one ends the process at once, by its default action
        if (!failed && !stopped_) {
          stopped_ = true;
          stop_.set_value();
        }
      });
    }
    asio::co_spawn(io_, accept(), asio::detached);
    const auto work = asio::make_work_guard(io_);
    std::thread thread([this] { io_.run(); });
    if (front_->options.on_ready) {
      front_->options.on_ready(listener_->port());
    }
    wait_for_end();
    const HttpEnd end = wind_down();
    io_.stop();
    thread.join();
    front_->on_change = nullptr;
    return end;
  }

 private:
  awaitable<void> accept() {
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    while (!front_->stopping) {
      if (front_->connections >= front_->options.max_connections) {
        co_await room_.async_wait(token);
        continue;
      }
      auto [failed] =
          co_await arrivals_.async_wait(asio::posix::stream_descriptor::wait_read, token);
      if (failed || front_->stopping) {
        break;
      }
      UniqueFd connection = listener_->accept();
      if (!connection) {
        const int error = errno;
        // Out of descriptors or memory: better when a connection has ended.
        if ((error == EMFILE || error == ENFILE || error == ENOMEM) && front_->connections > 0) {
          front_->core->log.warn("a connection waits: the machine has no room for it");
          co_await room_.async_wait(token);
        }
        continue;
      }
      boost::system::error_code unusable;
      HttpSocket socket(io_);
      const int fd = connection.release();
      if (socket.assign({listener_->family(), 0}, fd, unusable)) {
        ::close(fd);
        continue;
      }
      asio::co_spawn(io_, serve_connection(std::move(socket), front_), asio::detached);
    }
  }

  /// On the thread of the connections.
  void changed() {
    room_.cancel();
    if (waits_ && front_->active == 0 && front_->streams == 0) {
      waits_ = false;
      written_.set_value();
    }
  }

  void wait_for_end() {
    auto ended = stop_.get_future();
    const std::stop_callback when(front_->options.context.stop_token(), [this] {
      asio::post(io_, [this] {
        boost::system::error_code ignored;
        signals_.cancel(ignored);
        if (!stopped_) {
          stopped_ = true;
          stop_.set_value();
        }
      });
    });
    ended.wait();
  }

  /// Runs `work` on the thread of the connections, and waits for it.
  void on_thread(const std::function<void()>& work) {
    std::promise<void> done;
    asio::post(io_, [&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  HttpEnd wind_down() {
    const auto deadline = Clock::now() + front_->options.stop_grace;
    // Only then is it certain that no further call reaches the workers unseen.
    on_thread([this] {
      boost::system::error_code ignored;
      front_->stopping = true;
      arrivals_.cancel(ignored);
      ::shutdown(listener_->fd(), SHUT_RD);  // who still connects is refused
      for (const auto& peer : front_->peers()) {
        peer->end_subscriptions();
      }
      front_->core->waiting->abandon(nullptr);
    });
    bool idle = front_->workers->wait_idle(deadline);
    if (!idle) {
      on_thread([this] {
        for (const auto& peer : front_->peers()) {
          peer->interrupt();
        }
      });
      idle = front_->workers->wait_idle(Clock::now() + front_->options.cancel_grace);
    }
    auto written = written_.get_future();
    on_thread([this] {
      front_->end_streams();
      waits_ = true;
      changed();
    });
    // A call that ignores its cancellation is never answered: nothing to wait for.
    written.wait_for(idle ? front_->options.flush_grace : front_->options.cancel_grace);
    return {.abandoned_calls = front_->workers->stop()};
  }

  asio::io_context io_{1};
  const std::shared_ptr<HttpFront> front_;
  asio::signal_set signals_;
  asio::steady_timer room_;
  std::optional<Listener> listener_;
  asio::posix::stream_descriptor arrivals_;  // the listener's socket, by a descriptor of its own
  std::promise<void> stop_;
  std::promise<void> written_;
  bool stopped_ = false;  // these two on the thread of the connections
  bool waits_ = false;
};

}  // namespace

Result<HttpEnd> serve_http(const Server& server, const HttpOptions& options) {
  HttpService service(server, options);
  return service.serve();
}

}  // namespace bawn::mcp
