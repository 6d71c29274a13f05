#include "peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bawn::mcp {

using contract::ErrorCode;
using contract::fail;
using contract::Result;

Peer::Peer(contract::Context context, std::shared_ptr<Outlet> outlet, PeerTraits traits)
    : context_(std::move(context)), outlet_(std::move(outlet)), traits_(std::move(traits)) {}

Era Peer::agreed() const {
  const std::scoped_lock lock(mutex_);
  return agreed_;
}

void Peer::agree(std::string version, std::string client_capabilities) {
  const std::scoped_lock lock(mutex_);
  agreed_ = {.version = std::move(version), .client_capabilities = std::move(client_capabilities)};
  initialized_ = true;
}

int Peer::log_level() const {
  const std::scoped_lock lock(mutex_);
  return log_level_;
}

void Peer::set_log_level(int level) {
  const std::scoped_lock lock(mutex_);
  log_level_ = level;
}

bool Peer::is_live(const RequestId& id) const {
  const std::scoped_lock lock(mutex_);
  return live_.contains(id);
}

LiveRequestPtr Peer::open(RequestId id, Era era, std::shared_ptr<Outlet> outlet) {
  auto request =
      std::make_shared<LiveRequest>(std::move(id), std::move(era), context_, std::move(outlet));
  const std::scoped_lock lock(mutex_);
  return live_.emplace(request->id(), request).second ? request : nullptr;
}

bool Peer::open_subscription(RequestId id, Era era, const std::shared_ptr<Outlet>& outlet,
                             Interests interests, std::string acknowledged) {
  auto request = std::make_shared<LiveRequest>(std::move(id), std::move(era), context_, outlet);
  bool over = false;
  {
    const std::scoped_lock lock(mutex_);
    if (!live_.emplace(request->id(), request).second) {
      return false;
    }
    subscriptions_.push_back({.request = request, .interests = std::move(interests)});
    // Under the lock: nothing of the subscription comes before it, and nothing is missed behind it.
    outlet->send(std::move(acknowledged));
    over = subscriptions_over_;
  }
  if (over) {
    end_subscriptions();
  }
  return true;
}

void Peer::answer(const LiveRequestPtr& request, std::string line, HttpStatus status) {
  {
    const std::scoped_lock lock(mutex_);
    // After a cancellation the id may already belong to a newer request.
    const auto found = live_.find(request->id());
    if (found != live_.end() && found->second == request) {
      live_.erase(found);
    }
  }
  request->answer(std::move(line), status);
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
    std::erase_if(subscriptions_, [&](const Subscription& one) { return one.request == request; });
  }
  request->cancel();
}

Result<Json> Peer::ask(LiveRequest& request, const contract::Context& context,
                       const std::string& method, const Json& params, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const std::string id = fmt::format("bawn-{}", ++asked_);
  questions_.emplace(id, std::nullopt);
  lock.unlock();
  Json message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.empty()) {
    message["params"] = params;
  }
  const bool sent = request.tell(contract::dump_json(message));
  lock.lock();
  const bool came = sent && answer_came_.wait_until(lock, context.stop_token(), deadline,
                                                    [&] { return questions_.at(id).has_value(); });
  auto answer = std::move(questions_.at(id));
  questions_.erase(id);
  lock.unlock();
  if (came) {
    return *std::move(answer);
  }
  if (sent) {
    outlet_->send(notification_line("notifications/cancelled", Json{{"requestId", id}}));
  }
  return context.cancelled() || !sent
             ? fail(ErrorCode::Cancelled, "the call was cancelled while it waited for an answer")
             : fail(ErrorCode::DeadlineExceeded, "no answer came in time");
}

void Peer::answered(const RequestId& id, const ClientAnswer& answer) {
  const Json name = id.to_json();
  if (!name.is_string()) {
    return;
  }
  const auto value = contract::parse_json(answer.result.value_or(answer.error.value_or("null")));
  {
    const std::scoped_lock lock(mutex_);
    const auto found = questions_.find(name.get<std::string>());
    if (found == questions_.end() || found->second) {
      return;
    }
    if (answer.result && value && value->is_object()) {
      found->second = *value;
    } else {
      found->second = fail(ErrorCode::ToolFailed, "the client answered with an error");
    }
  }
  answer_came_.notify_all();
}

bool Peer::subscribe(const std::string& uri) {
  const std::scoped_lock lock(mutex_);
  if (uris_.size() >= kMostUris && !uris_.contains(uri)) {
    return false;
  }
  uris_.insert(uri);
  return true;
}

bool Peer::listens_enough() const {
  constexpr std::size_t kMost = 64;
  const std::scoped_lock lock(mutex_);
  return subscriptions_.size() >= kMost;
}

void Peer::unsubscribe(const std::string& uri) {
  const std::scoped_lock lock(mutex_);
  uris_.erase(uri);
}

void Peer::notify(const std::string& method, const Json& params, bool legacy,
                  const std::function<bool(const Interests&)>& wanted) {
  std::vector<LiveRequestPtr> subscribed;
  {
    const std::scoped_lock lock(mutex_);
    for (const Subscription& one : subscriptions_) {
      if (wanted(one.interests)) {
        subscribed.push_back(one.request);
      }
    }
    legacy = legacy && initialized_;
  }
  if (legacy) {
    outlet_->send_droppable(method + contract::dump_json(params),
                            notification_line(method, params));
  }
  for (const LiveRequestPtr& request : subscribed) {
    const Json id = request->id().to_json();
    Json tagged = params;
    tagged["_meta"] = {{meta::kSubscriptionId, id}};
    request->tell_droppable(method + contract::dump_json(tagged),
                            notification_line(method, tagged));
  }
}

void Peer::list_changed(ListKind kind) {
  switch (kind) {
    case ListKind::Tools:
      return notify("notifications/tools/list_changed", Json::object(), true,
                    [](const Interests& interests) { return interests.tools; });
    case ListKind::Prompts:
      return notify("notifications/prompts/list_changed", Json::object(), true,
                    [](const Interests& interests) { return interests.prompts; });
    case ListKind::Resources:
      return notify("notifications/resources/list_changed", Json::object(), true,
                    [](const Interests& interests) { return interests.resources; });
  }
}

void Peer::resource_updated(const std::string& uri) {
  bool legacy = false;
  {
    const std::scoped_lock lock(mutex_);
    legacy = uris_.contains(uri);
  }
  notify("notifications/resources/updated", Json{{"uri", uri}}, legacy,
         [&](const Interests& interests) { return interests.uris.contains(uri); });
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
  std::vector<Subscription> ended;
  {
    const std::scoped_lock lock(mutex_);
    ended.swap(subscriptions_);
    subscriptions_over_ = true;
  }
  for (const auto& [request, interests] : ended) {
    const Json id = request->id().to_json();
    answer(request, result_line(request->id(), Json{{"resultType", "complete"},
                                                    {"_meta", {{meta::kSubscriptionId, id}}}}));
    // Two pages of MCP 2026-07-28 differ on how a server ends one: by its result, or by this.
    outlet_->send(notification_line("notifications/cancelled", Json{{"requestId", id}}));
  }
}

void Peer::cancel_all() {
  for (const LiveRequestPtr& request : requests()) {
    cancel(request->id());
  }
}

bool Peer::initialized() const {
  const std::scoped_lock lock(mutex_);
  return initialized_;
}

bool Peer::has_live() const {
  const std::scoped_lock lock(mutex_);
  return !live_.empty();
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
