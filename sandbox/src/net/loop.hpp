/// \file
/// What the parts of one session's network thread share.
#pragma once

#include "bawn/sandbox/egress.hpp"
#include "decision_log.hpp"
#include "host_rules.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bawn::sandbox::net {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

/// No exception for an error: `auto [error, n] = co_await …(kAsValues)`.
inline constexpr auto kAsValues = asio::as_tuple(asio::use_awaitable);

struct Loop;

/// The way back to a loop for threads that may outlive it.
class Doorway {
 public:
  explicit Doorway(Loop& loop) : loop_(&loop) {}

  /// Calls `work(loop)` on the network thread; drops it when the loop has ended. Any thread.
  template <class Work>
  void post(Work work);
  void close() {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Loop* loop_;
};

/// Belongs to the session's Egress, and ends after its network thread. Whatever waits in `io` then
/// (listeners, tunnels, calls) is destroyed with it: it refers to the loop and must not own it, or
/// neither would ever go. All members but `log`, `door` and `io` are for the network thread only.
struct Loop {
  Loop(HostRules host_rules, Egress::Options egress_options)
      : rules(std::move(host_rules)),
        options(std::move(egress_options)),
        log(options.log_entries) {}
  ~Loop() { door->close(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  HostRules rules;
  Egress::Options options;
  DecisionLog log;
  std::size_t connections = 0;
  std::size_t resolving = 0;
  /// Without a network namespace anybody on the machine can reach the proxy's port: then only those
  /// connections are served that the supervisor made, by the port they come from.
  bool expected_only = false;
  std::set<std::uint16_t> expected;
  asio::io_context io{1};  ///< behind what its coroutines use, so that it goes first
  std::shared_ptr<Doorway> door = std::make_shared<Doorway>(*this);
};

template <class Work>
void Doorway::post(Work work) {
  const std::lock_guard lock(mutex_);
  if (loop_ != nullptr) {
    asio::post(loop_->io, [&loop = *loop_, work = std::move(work)]() mutable { work(loop); });
  }
}

/// Resolves a name on a thread of its own. Errors: NotFound, ResourceExhausted, DeadlineExceeded.
asio::awaitable<Result<std::vector<Address>>> resolve(Loop& loop, std::string host);

[[nodiscard]] asio::ip::address to_asio(const Address& address);

/// Serves the proxy on a listening socket until the loop ends.
asio::awaitable<void> serve_proxy(Loop& loop, tcp::acceptor acceptor);

}  // namespace bawn::sandbox::net
