/// \file
/// One client: what was agreed with it, its requests in flight and its open subscriptions.
#pragma once

#include "bawn/contract/context.hpp"
#include "live_request.hpp"
#include "outlet.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace bawn::mcp {

/// Threads: thread-safe.
class Peer {
 public:
  /// `context` is the parent of every request's context.
  Peer(contract::Context context, std::shared_ptr<Outlet> outlet);

  [[nodiscard]] const contract::Context& context() const noexcept { return context_; }
  [[nodiscard]] const std::shared_ptr<Outlet>& outlet() const noexcept { return outlet_; }

  /// What a legacy request is read under: the newest revision until `initialize` agreed on one.
  [[nodiscard]] Era agreed() const;
  /// Notes what `initialize` agreed on.
  void agree(std::string version, std::string client_capabilities);

  [[nodiscard]] bool is_live(const RequestId& id) const;
  /// Registers a request, so that it can be cancelled; null when its id is live.
  [[nodiscard]] LiveRequestPtr open(RequestId id, Era era, std::shared_ptr<Outlet> outlet);
  /// Registers a subscription, which stays until it is cancelled or the peer ends; null when its id
  /// is live.
  [[nodiscard]] LiveRequestPtr open_subscription(RequestId id, Era era,
                                                 std::shared_ptr<Outlet> outlet);
  /// Frees the id, then sends the answer, so that the client may use the id again at once.
  void answer(const LiveRequestPtr& request, std::string line);
  /// The client cancelled; an unknown id is ignored.
  void cancel(const RequestId& id);

  /// Sends what is due at `now`; the time of the next tick, none when nothing is pending.
  std::optional<Outlet::Clock::time_point> tick(Outlet::Clock::time_point now);

  /// Ends every subscription with its result.
  void end_subscriptions();
  /// The client is gone: tells every request in flight. What they still return is answered.
  void interrupt();

 private:
  LiveRequestPtr add(RequestId id, Era era, std::shared_ptr<Outlet> outlet, bool subscription);
  [[nodiscard]] std::vector<LiveRequestPtr> requests() const;

  const contract::Context context_;
  const std::shared_ptr<Outlet> outlet_;
  mutable std::mutex mutex_;
  Era agreed_{.version = std::string(kNewestLegacy)};
  std::map<RequestId, LiveRequestPtr> live_;
  std::vector<LiveRequestPtr> subscriptions_;
};

}  // namespace bawn::mcp
