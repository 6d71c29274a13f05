/// \file
/// One client: what was agreed with it, its requests in flight, its open subscriptions and our
/// requests to it.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/mcp/server.hpp"
#include "live_request.hpp"
#include "message.hpp"
#include "outlet.hpp"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bawn::mcp {

/// Resources that one client may be told of, by one subscription.
inline constexpr std::size_t kMostUris = 256;

/// What a client wants to be told of.
struct Interests {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string> uris{};
};

/// How a transport knows a client.
struct PeerTraits {
  /// Who it is, for tying states to it; empty where the connection itself says so.
  std::string principal{};
  /// Requests of ours reach it, and its answers come back (legacy only).
  bool can_ask = true;
};

/// Threads: thread-safe.
class Peer {
 public:
  using Clock = Outlet::Clock;

  /// `context` is the parent of every request's context.
  Peer(contract::Context context, std::shared_ptr<Outlet> outlet, PeerTraits traits = {});

  [[nodiscard]] const contract::Context& context() const noexcept { return context_; }
  [[nodiscard]] const std::shared_ptr<Outlet>& outlet() const noexcept { return outlet_; }
  [[nodiscard]] const std::string& principal() const noexcept { return traits_.principal; }
  [[nodiscard]] bool can_ask() const noexcept { return traits_.can_ask; }

  /// What a legacy request is read under: the newest revision until `initialize` agreed on one.
  [[nodiscard]] Era agreed() const;
  /// Notes what `initialize` agreed on.
  void agree(std::string version, std::string client_capabilities);
  [[nodiscard]] int log_level() const;
  void set_log_level(int level);

  [[nodiscard]] bool is_live(const RequestId& id) const;
  /// Registers a request, so that it can be cancelled; null when its id is live.
  [[nodiscard]] LiveRequestPtr open(RequestId id, Era era, std::shared_ptr<Outlet> outlet);
  /// Registers a subscription, which stays until it is cancelled or the peer ends, and sends its
  /// acknowledgement before all that comes of it; false when its id is live.
  [[nodiscard]] bool open_subscription(RequestId id, Era era, const std::shared_ptr<Outlet>& outlet,
                                       Interests interests, std::string acknowledged);
  /// Frees the id, then sends the answer, so that the client may use the id again at once.
  void answer(const LiveRequestPtr& request, std::string line, HttpStatus status = HttpStatus::Ok);
  /// The client cancelled; an unknown id is ignored.
  void cancel(const RequestId& id);

  /// Sends a request of ours beside `request` and gives its result.
  /// Errors and blocking: as ask_client().
  [[nodiscard]] contract::Result<Json> ask(LiveRequest& request, const contract::Context& context,
                                           const std::string& method, const Json& params,
                                           Clock::time_point deadline);
  /// An answer came; one that nobody waits for is ignored.
  void answered(const RequestId& id, const ClientAnswer& answer);

  /// A legacy client's subscriptions to single resources; false for one beyond kMostUris.
  [[nodiscard]] bool subscribe(const std::string& uri);
  void unsubscribe(const std::string& uri);
  /// Sends a notification to whom it interests here.
  void list_changed(ListKind kind);
  void resource_updated(const std::string& uri);

  /// Sends what is due at `now`; the time of the next tick, none when nothing is pending.
  std::optional<Clock::time_point> tick(Clock::time_point now);

  /// Ends every subscription with its result, and those that are opened later at once.
  void end_subscriptions();
  /// True while no further subscription may be opened.
  [[nodiscard]] bool listens_enough() const;
  /// The client gave up all of its requests: none is answered.
  void cancel_all();
  /// True once `initialize` was agreed on.
  [[nodiscard]] bool initialized() const;
  [[nodiscard]] bool has_live() const;
  /// The client is gone: tells every request in flight. What they still return is answered.
  void interrupt();

 private:
  struct Subscription {
    LiveRequestPtr request;
    Interests interests;
  };
  [[nodiscard]] std::vector<LiveRequestPtr> requests() const;
  void notify(const std::string& method, const Json& params, bool legacy,
              const std::function<bool(const Interests&)>& wanted);

  const contract::Context context_;
  const std::shared_ptr<Outlet> outlet_;
  const PeerTraits traits_;
  mutable std::mutex mutex_;
  std::condition_variable_any answer_came_;
  Era agreed_{.version = std::string(kNewestLegacy)};
  bool initialized_ = false;
  int log_level_ = 0;
  std::set<std::string> uris_;
  std::map<RequestId, LiveRequestPtr> live_;
  std::vector<Subscription> subscriptions_;
  bool subscriptions_over_ = false;
  std::uint64_t asked_ = 0;
  std::map<std::string, std::optional<contract::Result<Json>>> questions_;
};

}  // namespace bawn::mcp
