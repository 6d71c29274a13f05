#include "dispatcher.hpp"

#include "batch.hpp"
#include "protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bawn::mcp {
namespace {

constexpr const char* kLiveId = "a request with this id is still running";

}  // namespace

const Dispatcher::Method Dispatcher::kMethods[] = {
    {"tools/call", true, true, &Dispatcher::call_tool},
    {"tools/list", true, true, &Dispatcher::list_tools},
    {"ping", true, false, &Dispatcher::ping},
    {"initialize", true, false, &Dispatcher::initialize},
    {"logging/setLevel", true, false, &Dispatcher::set_level},
    {"server/discover", false, true, &Dispatcher::discover},
    {"subscriptions/listen", false, true, &Dispatcher::listen},
};

Dispatcher::Dispatcher(std::shared_ptr<const Core> core, std::shared_ptr<Peer> peer)
    : core_(std::move(core)), peer_(std::move(peer)) {}

void Dispatcher::accept(std::string_view text, const std::optional<HttpFacts>& http,
                        const std::shared_ptr<Outlet>& outlet, std::vector<JobPtr>& jobs) {
  auto decoded = decode(text);
  if (!decoded) {
    core_->log.warn(fmt::format("refused a message: {}", decoded.error().error.message));
    outlet->send(error_line(decoded.error().id, decoded.error().error));
    return;
  }
  if (decoded->message) {
    accept_message(*std::move(decoded->message), http, outlet, jobs);
    return;
  }
  const Era agreed = peer_->agreed();
  const bool allowed = http && http->version_header ? *http->version_header == kBatchVersion
                                                    : agreed.version == kBatchVersion;
  if (!allowed) {
    outlet->send(error_line(
        {}, {.code = RpcCode::InvalidRequest,
             .message = fmt::format("batches exist only in revision {}", kBatchVersion)}));
    return;
  }
  accept_batch(decoded->batch, http, outlet, jobs);
}

void Dispatcher::refuse_long(std::string_view head, std::size_t limit, Outlet& outlet) {
  core_->log.warn(fmt::format("refused a message of more than {} bytes", limit));
  outlet.send(error_line(sniff_id(head),
                         {.code = RpcCode::InvalidRequest,
                          .message = fmt::format("a message may have at most {} bytes", limit)}));
}

void Dispatcher::accept_batch(const std::vector<std::string_view>& texts,
                              const std::optional<HttpFacts>& http,
                              const std::shared_ptr<Outlet>& outlet, std::vector<JobPtr>& jobs) {
  const auto batch = std::make_shared<BatchOutlet>(outlet);
  for (const std::string_view text : texts) {
    auto decoded = decode(text);
    const bool nested = decoded && !decoded->message;
    const bool handshake = decoded && decoded->message && decoded->message->method == "initialize";
    if (nested || handshake) {
      decoded = std::unexpected(
          Refusal{.id = sniff_id(text),
                  .error = {.code = RpcCode::InvalidRequest,
                            .message = "a batch may hold neither a batch nor initialize"}});
    }
    if (!decoded) {
      batch->expect();
      batch->send(error_line(decoded.error().id, decoded.error().error));
      continue;
    }
    if (decoded->message->id) {
      batch->expect();
    }
    accept_message(*std::move(decoded->message), http, batch, jobs);
  }
  batch->complete();
}

void Dispatcher::accept_message(Message message, const std::optional<HttpFacts>& http,
                                const std::shared_ptr<Outlet>& outlet, std::vector<JobPtr>& jobs) {
  if (message.ignored) {
    if (message.id) {
      outlet->withdrawn();
    }
    return;
  }
  if (!message.id) {
    accept_notification(message);
    return;
  }
  if (peer_->is_live(*message.id)) {
    outlet->send(error_line(message.id, {.code = RpcCode::InvalidRequest, .message = kLiveId}));
    return;
  }
  auto era = decide_era(message.method, message.params, http, peer_->agreed());
  if (!era) {
    outlet->send(error_line(message.id, era.error()));
    return;
  }
  Request request{.id = *std::move(message.id),
                  .era = *std::move(era),
                  .params = std::move(message.params),
                  .outlet = outlet};
  dispatch(message.method, request, jobs);
}

void Dispatcher::accept_notification(const Message& message) {
  if (message.method != "notifications/cancelled") {
    return;
  }
  const auto target = message.params.find("requestId");
  if (const auto id = target ? RequestId::from_raw(*target) : std::nullopt) {
    peer_->cancel(*id);
  }
}

void Dispatcher::dispatch(std::string_view method, Request& request, std::vector<JobPtr>& jobs) {
  const Method* const found = find_method(method, request.era);
  if (found == nullptr) {
    refuse(request, RpcCode::MethodNotFound, "Method not found: " + shown(method));
    return;
  }
  (this->*found->handler)(request, jobs);
}

const Dispatcher::Method* Dispatcher::find_method(std::string_view name, const Era& era) const {
  const auto* const found =
      std::ranges::find_if(kMethods, [&](const Method& method) { return method.name == name; });
  if (found == std::end(kMethods) || !(era.modern ? found->modern : found->legacy)) {
    return nullptr;
  }
  const bool undeclared = name == "logging/setLevel" && !core_->options.logging;
  return undeclared ? nullptr : found;
}

void Dispatcher::initialize(Request& request, std::vector<JobPtr>& /*jobs*/) {
  const auto version = request.params.find("protocolVersion");
  const auto asked = version ? string_of(*version) : std::nullopt;
  if (!asked) {
    refuse(request, RpcCode::InvalidParams, "protocolVersion must be a string");
    return;
  }
  const std::string_view capabilities = request.params.find("capabilities").value_or("{}");
  if (!is_raw_object(capabilities)) {
    refuse(request, RpcCode::InvalidParams, "capabilities must be an object");
    return;
  }
  const std::string agreed = is_legacy_version(*asked) ? *asked : std::string(kNewestLegacy);
  peer_->agree(agreed, std::string(capabilities));
  Json result = {{"protocolVersion", agreed},
                 {"capabilities", core_->capabilities(false)},
                 {"serverInfo", core_->server_info(features_of(agreed))}};
  if (!core_->options.instructions.empty()) {
    result["instructions"] = core_->options.instructions;
  }
  reply(request, result);
}

void Dispatcher::ping(Request& request, std::vector<JobPtr>& /*jobs*/) {
  reply(request, Json::object());
}

void Dispatcher::set_level(Request& request, std::vector<JobPtr>& /*jobs*/) {
  constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                       "error", "critical", "alert",  "emergency"};
  const auto value = request.params.find("level");
  const auto level = value ? string_of(*value) : std::nullopt;
  const bool known = level && std::ranges::find(kLevels, *level) != kLevels.end();
  if (!known) {
    refuse(request, RpcCode::InvalidParams, "level must be one of debug to emergency");
    return;
  }
  reply(request, Json::object());
}

void Dispatcher::discover(Request& request, std::vector<JobPtr>& /*jobs*/) {
  // Only modern revisions: a client puts a listed one into `_meta`.
  Json result = {{"supportedVersions", Json::array({kModernVersion})},
                 {"capabilities", core_->capabilities(true)}};
  if (!core_->options.instructions.empty()) {
    result["instructions"] = core_->options.instructions;
  }
  reply(request, core_->finished(std::move(result), request.era,
                                 Caching{.ttl_ms = core_->options.list_ttl.count()}));
}

void Dispatcher::listen(Request& request, std::vector<JobPtr>& /*jobs*/) {
  if (!is_raw_object(request.params.find("notifications").value_or(""))) {
    refuse(request, RpcCode::InvalidParams, "notifications must be an object");
    return;
  }
  if (peer_->open_subscription(request.id, request.era, request.outlet) == nullptr) {
    refuse(request, RpcCode::InvalidRequest, kLiveId);
    return;
  }
  // Nothing of ours ever changes, so nothing is honoured; the subscription stays open all the same,
  // because clients open a closed one again at once.
  request.outlet->send(
      notification_line("notifications/subscriptions/acknowledged",
                        Json{{"notifications", Json::object()},
                             {"_meta", {{meta::kSubscriptionId, request.id.to_json()}}}}));
}

void Dispatcher::list_tools(Request& request, std::vector<JobPtr>& jobs) {
  if (request.params.contains("cursor")) {
    refuse(request, RpcCode::InvalidParams, "cursor is not one of ours: the list has one page");
    return;
  }
  auto live = peer_->open(request.id, std::move(request.era), request.outlet);
  if (live == nullptr) {
    refuse(request, RpcCode::InvalidRequest, kLiveId);
    return;
  }
  jobs.push_back(make_list_job({.core = core_, .peer = peer_, .request = std::move(live)}));
}

void Dispatcher::call_tool(Request& request, std::vector<JobPtr>& jobs) {
  const auto name_text = request.params.find("name");
  const auto name = name_text ? string_of(*name_text) : std::nullopt;
  if (!name) {
    refuse(request, RpcCode::InvalidParams, "name must be a string");
    return;
  }
  const std::string_view arguments = request.params.find("arguments").value_or("{}");
  if (!is_raw_object(arguments)) {
    refuse(request, RpcCode::InvalidParams, "arguments must be an object");
    return;
  }
  const auto envelope = request.params.find("_meta");
  const auto token = envelope ? raw_members(*envelope).find(meta::kProgressToken) : std::nullopt;
  const auto token_value = token ? RequestId::from_raw(*token) : std::nullopt;
  if (token && !token_value) {
    refuse(request, RpcCode::InvalidParams, "_meta.progressToken must be a string or an integer");
    return;
  }
  const contract::Tool* const tool = core_->catalog.find(*name);
  if (tool == nullptr) {
    refuse(request, RpcCode::InvalidParams, "Unknown tool: " + shown(*name));
    return;
  }
  auto live = peer_->open(request.id, std::move(request.era), request.outlet);
  if (live == nullptr) {
    refuse(request, RpcCode::InvalidRequest, kLiveId);
    return;
  }
  if (token_value) {
    live->want_progress(token_value->to_json(), {.first = core_->options.progress_first,
                                                 .every = core_->options.progress_every});
  }
  jobs.push_back(make_call_job({.core = core_, .peer = peer_, .request = std::move(live)}, *tool,
                               std::string(arguments), token_value.has_value()));
}

void Dispatcher::reply(const Request& request, const Json& result) {
  request.outlet->send(result_line(request.id, result));
}

void Dispatcher::refuse(const Request& request, RpcCode code, std::string message) {
  request.outlet->send(
      error_line(request.id, RpcError{.code = code, .message = std::move(message)}));
}

}  // namespace bawn::mcp
