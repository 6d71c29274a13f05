/// \file
/// What all connections of one HTTP server share. Everything here belongs to the one thread that
/// serves the connections.
#pragma once

#include "bawn/mcp/http.hpp"
#include "core.hpp"
#include "dispatcher.hpp"
#include "http/http_outlet.hpp"
#include "http/worker_pool.hpp"
#include "peer.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bawn::mcp {

/// A legacy client between `initialize` and its end.
struct HttpSession {
  std::string id;
  std::string account;
  std::shared_ptr<SessionOutlet> outlet;
  std::shared_ptr<Peer> peer;
  std::shared_ptr<Dispatcher> dispatcher;
  std::chrono::steady_clock::time_point used;
};
using HttpSessionPtr = std::shared_ptr<HttpSession>;

class HttpFront {
 public:
  HttpFront(std::shared_ptr<const Core> core, const HttpOptions& options);

  const std::shared_ptr<const Core> core;
  HttpOptions options;  ///< the tokens change
  const std::shared_ptr<WorkerPool> workers;

  /// The context of a request of `account`, below options.context.
  [[nodiscard]] contract::Context context_of(const std::string& account) const;

  /// A session that add() makes known once `initialize` succeeded. Null when the system has no
  /// randomness.
  [[nodiscard]] HttpSessionPtr make_session(const std::string& account) const;
  /// Ends a session when there are too many: of the account that has the most, the one that was
  /// used least recently and has no request in flight. False when there is none to end.
  [[nodiscard]] bool make_room();
  void add(const HttpSessionPtr& session);
  /// Null for one that is unknown, over, or another account's.
  [[nodiscard]] HttpSessionPtr find(const std::string& id, const std::string& account);
  void end(const HttpSessionPtr& session);
  /// Ends the streams of all sessions, once what is queued on them is written.
  void end_streams();

  /// Takes new tokens where they have changed.
  void renew_tokens();

  /// Peers that are on their own, so that an ending server can reach them.
  void track(const std::shared_ptr<Peer>& peer);
  [[nodiscard]] std::vector<std::shared_ptr<Peer>> peers() const;

  bool stopping = false;
  std::size_t active = 0;           ///< requests that are not answered yet
  std::size_t streams = 0;          ///< open streams of legacy sessions
  std::function<void()> on_change;  ///< `active` fell, or a connection ended
  std::size_t connections = 0;

 private:
  void forget_idle();

  std::map<std::string, HttpSessionPtr> sessions_;
  std::vector<std::weak_ptr<Peer>> peers_;
};

}  // namespace bawn::mcp
