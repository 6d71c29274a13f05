#include "peer.hpp"

#include <algorithm>
#include <utility>

namespace bawn::mcp {

Peer::Peer(contract::Context context, std::shared_ptr<Outlet> outlet)
    : context_(std::move(context)), outlet_(std::move(outlet)) {}

Era Peer::agreed() const {
  const std::scoped_lock lock(mutex_);
  return agreed_;
}

void Peer::agree(std::string version, std::string client_capabilities) {
  const std::scoped_lock lock(mutex_);
  agreed_ = {.version = std::move(version), .client_capabilities = std::move(client_capabilities)};
}

bool Peer::is_live(const RequestId& id) const {
  const std::scoped_lock lock(mutex_);
  return live_.contains(id);
}

LiveRequestPtr Peer::open(RequestId id, Era era, std::shared_ptr<Outlet> outlet) {
  return add(std::move(id), std::move(era), std::move(outlet), false);
}

LiveRequestPtr Peer::open_subscription(RequestId id, Era era, std::shared_ptr<Outlet> outlet) {
  return add(std::move(id), std::move(era), std::move(outlet), true);
}

LiveRequestPtr Peer::add(RequestId id, Era era, std::shared_ptr<Outlet> outlet, bool subscription) {
  auto request =
      std::make_shared<LiveRequest>(std::move(id), std::move(era), context_, std::move(outlet));
  const std::scoped_lock lock(mutex_);
  if (!live_.emplace(request->id(), request).second) {
    return nullptr;
  }
  if (subscription) {
    subscriptions_.push_back(request);
  }
  return request;
}

void Peer::answer(const LiveRequestPtr& request, std::string line) {
  {
    const std::scoped_lock lock(mutex_);
    // After a cancellation the id may already belong to a newer request.
    const auto found = live_.find(request->id());
    if (found != live_.end() && found->second == request) {
      live_.erase(found);
    }
  }
  request->answer(std::move(line));
}

void Peer::cancel(const RequestId& id) {
  LiveRequestPtr request;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = live_.find(id);
    if (found == live_.end()) {
      return;
    }
    request = std::move(found->second);
    live_.erase(found);
    std::erase(subscriptions_, request);
  }
  request->cancel();
}

std::optional<Outlet::Clock::time_point> Peer::tick(Outlet::Clock::time_point now) {
  std::optional<Outlet::Clock::time_point> next;
  for (const LiveRequestPtr& request : requests()) {
    const auto due = request->sign_of_life(now);
    if (due && (!next || *due < *next)) {
      next = due;
    }
  }
  return next;
}

void Peer::end_subscriptions() {
  std::vector<LiveRequestPtr> ended;
  {
    const std::scoped_lock lock(mutex_);
    ended.swap(subscriptions_);
  }
  for (const LiveRequestPtr& request : ended) {
    const Json id = request->id().to_json();
    answer(request, result_line(request->id(), Json{{"resultType", "complete"},
                                                    {"_meta", {{meta::kSubscriptionId, id}}}}));
    // Two pages of MCP 2026-07-28 differ on how a server ends one: by its result, or by this.
    outlet_->send(notification_line("notifications/cancelled", Json{{"requestId", id}}));
  }
}

void Peer::interrupt() {
  for (const LiveRequestPtr& request : requests()) {
    request->interrupt();
  }
}

std::vector<LiveRequestPtr> Peer::requests() const {
  const std::scoped_lock lock(mutex_);
  std::vector<LiveRequestPtr> all;
  all.reserve(live_.size());
  for (const auto& [id, request] : live_) {
    all.push_back(request);
  }
  return all;
}

}  // namespace bawn::mcp
