#include "dispatcher.hpp"

#include "batch.hpp"
#include "headers.hpp"
#include "protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bawn::mcp {
namespace {

constexpr const char* kLiveId = "a request with this id is still running";

std::optional<int> level_of(std::string_view name) {
  constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                       "error", "critical", "alert",  "emergency"};
  const auto* const found = std::ranges::find(kLevels, name);
  return found == kLevels.end() ? std::nullopt
                                : std::optional(static_cast<int>(found - kLevels.begin()));
}

}  // namespace

const Dispatcher::Method Dispatcher::kMethods[] = {
    {"tools/call", true, true, &Dispatcher::call_tool},
    {"tools/list", true, true, &Dispatcher::list_tools},
    {"ping", true, false, &Dispatcher::ping},
    {"initialize", true, false, &Dispatcher::initialize},
    {"logging/setLevel", true, false, &Dispatcher::set_level},
    {"server/discover", false, true, &Dispatcher::discover},
    {"subscriptions/listen", false, true, &Dispatcher::listen},
    {"resources/list", true, true, &Dispatcher::list_resources},
    {"resources/templates/list", true, true, &Dispatcher::list_templates},
    {"resources/read", true, true, &Dispatcher::read_resource},
    {"resources/subscribe", true, false, &Dispatcher::subscribe},
    {"resources/unsubscribe", true, false, &Dispatcher::unsubscribe},
    {"prompts/list", true, true, &Dispatcher::list_prompts},
    {"prompts/get", true, true, &Dispatcher::get_prompt},
    {"completion/complete", true, true, &Dispatcher::complete},
};

Dispatcher::Dispatcher(std::shared_ptr<const Core> core, std::shared_ptr<Peer> peer)
    : core_(std::move(core)), peer_(std::move(peer)) {}

void Dispatcher::accept(std::string_view text, const std::optional<HttpFacts>& http,
                        const std::shared_ptr<Outlet>& outlet, std::vector<JobPtr>& jobs) {
  auto decoded = decode(text);
  if (!decoded) {
    core_->log.warn(fmt::format("refused a message: {}", decoded.error().error.message));
    outlet->answer(error_line(decoded.error().id, decoded.error().error), HttpStatus::BadRequest);
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
    outlet->answer(error_line({}, {.code = RpcCode::InvalidRequest,
                                   .message = fmt::format("batches exist only in revision {}",
                                                          kBatchVersion)}),
                   HttpStatus::BadRequest);
    return;
  }
  accept_batch(decoded->batch, http, outlet, jobs);
}

void Dispatcher::refuse_long(std::string_view head, std::size_t limit, Outlet& outlet) {
  core_->log.warn(fmt::format("refused a message of more than {} bytes", limit));
  outlet.answer(error_line(sniff_id(head),
                           {.code = RpcCode::InvalidRequest,
                            .message = fmt::format("a message may have at most {} bytes", limit)}),
                HttpStatus::BadRequest);
}

void Dispatcher::refuse_starved(std::string_view head, Outlet& outlet) {
  core_->log.warn("refused a message for which there was no memory");
  outlet.answer(error_line(sniff_id(head), {.code = RpcCode::InternalError,
                                            .message = "there is no memory for this message now"}),
                HttpStatus::BadRequest);
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
      batch->answer(error_line(decoded.error().id, decoded.error().error), HttpStatus::Ok);
      continue;
    }
    if (decoded->message->id && !decoded->message->answer) {
      batch->expect();
    }
    accept_message(*std::move(decoded->message), http, batch, jobs);
  }
  batch->complete();
}

void Dispatcher::accept_message(Message message, const std::optional<HttpFacts>& http,
                                const std::shared_ptr<Outlet>& outlet, std::vector<JobPtr>& jobs) {
  if (message.answer) {
    if (message.id) {
      peer_->answered(*message.id, *message.answer);
    }
    return;
  }
  if (!message.id) {
    accept_notification(message);
    return;
  }
  const auto refuse_early = [&](const RpcError& error) {
    outlet->answer(error_line(message.id, error), HttpStatus::BadRequest);
  };
  if (peer_->is_live(*message.id)) {
    refuse_early({.code = RpcCode::InvalidRequest, .message = kLiveId});
    return;
  }
  auto era = decide_era(message.method, message.params, http, peer_->agreed());
  if (!era) {
    refuse_early(era.error());
    return;
  }
  if (era->modern && http) {
    if (auto wrong = header_mismatch(message.method, message.params, *http)) {
      refuse_early({.code = RpcCode::HeaderMismatch, .message = "Header mismatch: " + *wrong});
      return;
    }
  }
  Request request{.id = *std::move(message.id),
                  .era = *std::move(era),
                  .params = std::move(message.params),
                  .outlet = outlet,
                  .method = message.method,
                  .http = http ? &*http : nullptr};
  dispatch(request, jobs);
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

void Dispatcher::dispatch(Request& request, std::vector<JobPtr>& jobs) {
  const auto* const found = std::ranges::find_if(
      kMethods, [&](const Method& method) { return method.name == request.method; });
  if (found == std::end(kMethods) || !(request.era.modern ? found->modern : found->legacy) ||
      !serves(request.method, request.era)) {
    refuse(request, RpcCode::MethodNotFound, "Method not found: " + shown(request.method),
           request.era.modern ? HttpStatus::NotFound : HttpStatus::Ok);
    return;
  }
  (this->*found->handler)(request, jobs);
}

/// Methods equal the capabilities that are declared.
bool Dispatcher::serves(std::string_view method, const Era& era) const {
  const ServerOptions& options = core_->options;
  if (method == "logging/setLevel") {
    return options.logging;
  }
  if (method == "resources/subscribe" || method == "resources/unsubscribe") {
    return options.resources != nullptr && options.resource_updates;
  }
  if (method.starts_with("resources/")) {
    return options.resources != nullptr;
  }
  if (method.starts_with("prompts/")) {
    return !options.prompts.empty();
  }
  if (method == "completion/complete") {
    return core_->completes() && era.version >= "2025-03-26";
  }
  return true;
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
  core_->watchers->add(peer_);
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
  const auto value = request.params.find("level");
  const auto level = level_of(value ? string_of(*value).value_or("") : "");
  if (!level) {
    refuse(request, RpcCode::InvalidParams, "level must be one of debug to emergency");
    return;
  }
  peer_->set_log_level(*level);
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
  const auto filter = request.params.find("notifications");
  const auto wanted = filter ? contract::parse_json(*filter) : contract::Result<Json>(Json());
  if (!wanted || !wanted->is_object()) {
    refuse(request, RpcCode::InvalidParams, "notifications must be an object");
    return;
  }
  const ServerOptions& options = core_->options;
  const auto asks = [&](const char* name) { return wanted->value(name, Json()) == true; };
  Interests interests{
      .tools = options.lists_change && asks("toolsListChanged"),
      .prompts = options.lists_change && !options.prompts.empty() && asks("promptsListChanged"),
      .resources = options.lists_change && options.resources && asks("resourcesListChanged")};
  Json honoured = Json::object();
  for (const auto& [name, yes] : {std::pair("toolsListChanged", interests.tools),
                                  std::pair("promptsListChanged", interests.prompts),
                                  std::pair("resourcesListChanged", interests.resources)}) {
    if (yes) {
      honoured[name] = true;
    }
  }
  const Json uris = wanted->value("resourceSubscriptions", Json::array());
  if (options.resource_updates && uris.is_array()) {
    for (const Json& uri : uris) {
      if (uri.is_string() && interests.uris.size() < kMostUris) {
        interests.uris.insert(uri.get<std::string>());
      }
    }
    if (!interests.uris.empty()) {
      honoured["resourceSubscriptions"] = interests.uris;
    }
  }
  core_->watchers->add(peer_);
  // A subscription stays open even if nothing is honoured: clients open a closed one again at once.
  std::string acknowledged =
      notification_line("notifications/subscriptions/acknowledged",
                        Json{{"notifications", std::move(honoured)},
                             {"_meta", {{meta::kSubscriptionId, request.id.to_json()}}}});
  if (peer_->listens_enough()) {
    refuse(request, RpcCode::InvalidRequest, "too many subscriptions are open; cancel one");
    return;
  }
  if (!peer_->open_subscription(request.id, request.era, request.outlet, std::move(interests),
                                std::move(acknowledged))) {
    refuse(request, RpcCode::InvalidRequest, kLiveId);
  }
}

void Dispatcher::list_tools(Request& request, std::vector<JobPtr>& jobs) {
  if (asks_for_page(request)) {
    return;
  }
  if (auto live = open(request)) {
    jobs.push_back(make_list_job({.core = core_, .peer = peer_, .request = std::move(live)}));
  }
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
  const auto catalog = core_->catalog();
  if (!catalog) {
    core_->log.warn(fmt::format("tools/call: {}", catalog.error().message()));
    refuse(request, RpcCode::InternalError, "The tools could not be made");
    return;
  }
  EntryPtr entry = (*catalog)->find(*name);
  if (entry == nullptr) {
    refuse(request, RpcCode::InvalidParams, "Unknown tool: " + shown(*name));
    return;
  }
  if (request.era.modern && request.http != nullptr) {
    if (auto wrong = parameter_mismatch(*entry, arguments, *request.http)) {
      refuse(request, RpcCode::HeaderMismatch, "Header mismatch: " + *wrong,
             HttpStatus::BadRequest);
      return;
    }
  }
  std::string bound = bound_of(request, *name, arguments);
  if (goes_on(request, bound)) {
    return;
  }
  if (auto live = open(request)) {
    const auto envelope = request.params.find("_meta");
    const bool progress = envelope && raw_members(*envelope).contains(meta::kProgressToken);
    jobs.push_back(make_call_job(
        {.core = core_, .peer = peer_, .request = std::move(live), .bound = std::move(bound)},
        std::move(entry), std::string(arguments), progress));
  }
}

LiveRequestPtr Dispatcher::open(Request& request) {
  const auto envelope = request.params.find("_meta");
  const RawObject members = envelope ? raw_members(*envelope) : RawObject();
  const auto token = members.find(meta::kProgressToken);
  const auto token_value = token ? RequestId::from_raw(*token) : std::nullopt;
  if (token && !token_value) {
    refuse(request, RpcCode::InvalidParams, "_meta.progressToken must be a string or an integer");
    return nullptr;
  }
  const auto level = members.find(meta::kLogLevel);
  const auto level_value = level ? level_of(string_of(*level).value_or("")) : std::nullopt;
  if (level && !level_value) {
    refuse(request, RpcCode::InvalidParams,
           fmt::format("_meta: {} must be one of debug to emergency", meta::kLogLevel));
    return nullptr;
  }
  auto live = peer_->open(request.id, request.era, request.outlet);
  if (live == nullptr) {
    refuse(request, RpcCode::InvalidRequest, kLiveId);
    return nullptr;
  }
  if (level_value) {
    live->want_log(*level_value);
  }
  if (token_value) {
    live->want_progress(token_value->to_json(), {.first = core_->options.progress_first,
                                                 .every = core_->options.progress_every});
  }
  return live;
}

std::string Dispatcher::bound_of(const Request& request, std::string_view name,
                                 std::string_view arguments) const {
  return request.era.modern
             ? fmt::format("{}\n{}\n{}\n{}", peer_->principal(), request.method, name, arguments)
             : std::string();
}

bool Dispatcher::goes_on(Request& request, const std::string& bound) {
  const auto text = request.era.modern ? request.params.find("requestState") : std::nullopt;
  if (!text) {
    return false;
  }
  const auto refused = [&](const char* why) {
    refuse(request, RpcCode::InvalidParams, why);
    return true;
  };
  const auto ticket = core_->waiting->seal.open(string_of(*text).value_or(""), bound);
  if (!ticket) {
    return refused("requestState was altered, or belongs to another request");
  }
  if (ticket->expires < Outlet::Clock::now()) {
    return refused("requestState has expired; make the call again");
  }
  const ExchangePtr exchange = core_->waiting->find(ticket->call);
  Exchange::Answers answers;
  const auto raw = request.params.find("inputResponses");
  if (const auto parsed = raw ? contract::parse_json(*raw) : contract::Result<Json>(Json());
      parsed && parsed->is_object()) {
    for (const auto& [key, value] : parsed->items()) {
      answers[key] = value;
    }
  }
  if (exchange == nullptr) {
    return refused("requestState was used before; make the call again");
  }
  LiveRequestPtr live = open(request);
  if (live != nullptr && !exchange->resume(ticket->round, peer_, live, std::move(answers))) {
    peer_->answer(
        live,
        error_line(live->id(), {.code = RpcCode::InvalidParams,
                                .message = "requestState was used before; make the call again"}));
  }
  return true;
}

bool Dispatcher::asks_for_page(const Request& request) const {
  if (!request.params.contains("cursor")) {
    return false;
  }
  refuse(request, RpcCode::InvalidParams, "cursor is not one of ours: the list has one page");
  return true;
}

void Dispatcher::work(Request& request, std::vector<JobPtr>& jobs, std::optional<Caching> caching,
                      Work work, std::string bound) {
  if (auto live = open(request)) {
    jobs.push_back(make_work_job(
        {.core = core_, .peer = peer_, .request = std::move(live), .bound = std::move(bound)},
        request.method, caching, std::move(work)));
  }
}

Caching Dispatcher::private_list() const {
  return {.ttl_ms = 0, .same_for_all = false};
}

void Dispatcher::reply(const Request& request, const Json& result) {
  request.outlet->answer(result_line(request.id, result), HttpStatus::Ok);
}

void Dispatcher::refuse(const Request& request, RpcCode code, std::string message,
                        HttpStatus status) {
  request.outlet->answer(
      error_line(request.id, RpcError{.code = code, .message = std::move(message)}), status);
}

}  // namespace bawn::mcp
