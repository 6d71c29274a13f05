#include "bawn/contract/call_context.hpp"
#include "bawn/mcp/stdio.hpp"
#include "local_socket.hpp"
#include "stdio/serve.hpp"
#include "unique_fd.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <list>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::Result;

/// One connection, served on a thread of its own.
class SocketClient {
 public:
  explicit SocketClient(UniqueFd connection) : connection_(std::move(connection)) {}
  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;
  ~SocketClient() {
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  /// Once. `ended` is written to when it is over.
  Result<> start(const Server& server, StdioOptions options, int ended) {
    options.watch_parent = false;
    BAWN_TRY(word_.prepare());
    try {
      thread_ = std::thread([this, server, options = std::move(options), ended] {
        // Its errors are the client's descriptors', which it sees itself.
        if (const auto end = serve(server, options)) {
          abandoned_ = end->abandoned_calls;
        }
        over_ = true;
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto told = ::write(ended, &one, sizeof one);
      });
    } catch (const std::system_error&) {
      return contract::fail(contract::ErrorCode::ResourceExhausted, "no thread could be started");
    }
    return {};
  }

  /// Begins its end; said again, its calls are given no more time.
  void end() const { word_.tell(); }
  [[nodiscard]] bool over() const noexcept { return over_; }
  /// Once it is over.
  [[nodiscard]] std::size_t abandoned() const noexcept { return abandoned_; }

 private:
  Result<StdioEnd> serve(const Server& server, const StdioOptions& options) {
    Streams streams = BAWN_TRY(open_streams(connection_.get(), connection_.get(), false));
    return serve_streams(server, options, std::move(streams), word_);
  }

  UniqueFd connection_;
  ToldToEnd word_;
  std::size_t abandoned_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

class SocketService {
 public:
  SocketService(const Server& server, const SocketOptions& options)
      : server_(server), options_(options) {}

  Result<StdioEnd> serve(const std::function<void()>& on_ready) {
    if (options_.each.handle_signals) {
      BAWN_TRY(signals_.take());
    }
    wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_) {
      return std::unexpected(Error::from_errno(errno, "eventfd", "waiting for clients"));
    }
    const LocalSocket socket = BAWN_TRY(LocalSocket::listen(options_.path));
    const std::stop_callback when(options_.each.context.stop_token(), [this] { wake(); });
    if (on_ready) {
      on_ready();
    }
    while (wait(socket)) {
    }
    end_clients();
    return StdioEnd{.cause = StdioEndCause::Signal, .abandoned_calls = abandoned_};
  }

 private:
  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto told = ::write(wake_.get(), &one, sizeof one);
  }

  /// Ends all clients, each in its time; a further signal cuts that short for all.
  void end_clients() {
    const auto tell_all = [this] {
      for (const SocketClient& client : clients_) {
        client.end();
      }
    };
    tell_all();
    for (forget_ended(); !clients_.empty(); forget_ended()) {
      std::array<pollfd, 2> entries = {pollfd{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                                       pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
      ::poll(entries.data(), entries.size(), -1);
      clear_wake();
      if (entries[0].revents != 0) {
        signals_.clear();
        tell_all();
      }
    }
  }

  void clear_wake() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wake_.get(), &count, sizeof count);
  }

  /// Serves whoever comes, and forgets who went; false when it is over.
  bool wait(const LocalSocket& socket) {
    // Without descriptors the listener stays readable: it is left alone for a second.
    const bool starved = std::exchange(starved_, false);
    const bool room = clients_.size() < options_.max_clients && !starved;
    std::array<pollfd, 3> entries = {
        pollfd{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
        pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = room ? socket.fd() : -1, .events = POLLIN, .revents = 0}};
    if (::poll(entries.data(), entries.size(), starved ? 1000 : -1) < 0 && errno != EINTR) {
      return false;
    }
    clear_wake();
    forget_ended();
    if (entries[0].revents != 0) {
      signals_.clear();  // it would be delivered once the mask is as before
      return false;
    }
    if (options_.each.context.cancelled()) {
      return false;
    }
    if (entries[2].revents != 0) {
      begin(socket.accept());
    }
    return true;
  }

  void begin(UniqueFd connection) {
    if (!connection) {
      starved_ = errno == EMFILE || errno == ENFILE;
      return;
    }
    StdioOptions each = options_.each;
    // Two clients never share a shell by accident.
    each.context = contract::with_session(each.context, fmt::format("socket-{}", ++last_));
    clients_.emplace_back(std::move(connection));
    if (!clients_.back().start(server_, std::move(each), wake_.get())) {
      clients_.pop_back();  // the connection is closed, and the client sees that
    }
  }

  void forget_ended() {
    clients_.remove_if([this](const SocketClient& client) {
      const bool over = client.over();
      abandoned_ += over ? client.abandoned() : 0;
      return over;
    });
  }

  const Server server_;
  const SocketOptions& options_;
  EndingSignals signals_;
  UniqueFd wake_;
  std::list<SocketClient> clients_;
  std::size_t abandoned_ = 0;
  std::uint64_t last_ = 0;
  bool starved_ = false;  ///< the last client could not be taken for want of descriptors
};

}  // namespace

Result<StdioEnd> serve_socket(const Server& server, const SocketOptions& options,
                              const std::function<void()>& on_ready) {
  return SocketService(server, options).serve(on_ready);
}

}  // namespace bawn::mcp
