#include "http_client/http_channel.hpp"

#include "bawn/contract/outcome_class.hpp"
#include "client/connection.hpp"
#include "headers.hpp"
#include "http_client/challenge.hpp"
#include "protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Context;
using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

constexpr const char* kSession = "mcp-session-id";

bool is_stream(const HttpResponse& response) {
  return response.status == 200 && response.header("content-type").starts_with("text/event-stream");
}

class FixedToken final : public Authorization {
 public:
  explicit FixedToken(std::string token) : token_(std::move(token)) {}
  Result<std::string> token(const Context& /*context*/) override { return token_; }
  Result<bool> refused(const Context& /*context*/,
                       const AuthorizationChallenge& /*challenge*/) override {
    return false;
  }

 private:
  const std::string token_;
};

}  // namespace

std::shared_ptr<Authorization> fixed_token(std::string token) {
  return std::make_shared<FixedToken>(std::move(token));
}

Result<std::shared_ptr<Client>> connect_http(const Context& context, std::string_view url,
                                             ClientOptions options, HttpClientOptions http) {
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is no URL of an MCP server: it must begin with http:// or https://",
                            shown(url)));
  }
  auto client = std::make_shared<RemoteClient>(std::move(options));
  const auto begun = client->begin(context, [&](const ClientOptions& given, OnNotification notify) {
    return Result<std::shared_ptr<Channel>>(
        std::make_shared<HttpChannel>(std::string(url), std::move(http), given, std::move(notify)));
  });
  if (!begun) {
    return std::unexpected(begun.error().wrap(fmt::format("mcp: {}", url)));
  }
  return client;
}

HttpChannel::HttpChannel(std::string url, HttpClientOptions http, const ClientOptions& options,
                         OnNotification notify)
    : url_(std::move(url)),
      http_(std::move(http)),
      options_(options),
      notify_(std::move(notify)),
      pool_({.connect_timeout = http_.connect_timeout,
             .ca_file = http_.ca_file,
             .max_body_bytes = options.max_line_bytes}) {}

HttpChannel::~HttpChannel() {
  close();
}

void HttpChannel::speak(const std::string& version) {
  const std::scoped_lock lock(mutex_);
  version_ = version;
}

bool HttpChannel::has_headers() const noexcept {
  const std::scoped_lock lock(mutex_);
  return version_ >= kModernVersion;
}

std::string HttpChannel::session() {
  const std::scoped_lock lock(mutex_);
  return session_;
}

void HttpChannel::take_session(const HttpResponse& response) {
  if (const std::string given = response.header(kSession); !given.empty()) {
    const std::scoped_lock lock(mutex_);
    session_ = given;
  }
}

HttpChannel::Headers HttpChannel::headers_for(const std::string& method) {
  Headers headers = http_.headers;
  headers.emplace_back("Accept", "application/json, text/event-stream");
  headers.emplace_back("Content-Type", "application/json");
  const std::scoped_lock lock(mutex_);
  if (!version_.empty()) {
    headers.emplace_back("MCP-Protocol-Version", version_);
  }
  if (version_ >= kModernVersion) {
    headers.emplace_back("Mcp-Method", method);
  } else if (!session_.empty()) {
    headers.emplace_back("Mcp-Session-Id", session_);
  }
  return headers;
}

HttpChannel::Headers HttpChannel::headers_of(const Request& request) {
  Headers headers = headers_for(request.method);
  if (has_headers()) {
    if (!request.name.empty()) {
      headers.emplace_back("Mcp-Name", encode_header(request.name));
    }
    for (const auto& [name, value] : request.parameters) {
      headers.emplace_back(name, encode_header(value));
    }
  }
  return headers;
}

Result<std::string> HttpChannel::current_token(const Context& context) {
  if (http_.authorization == nullptr) {
    return std::string();
  }
  std::string token = BAWN_TRY(http_.authorization->token(context));
  const std::scoped_lock lock(mutex_);
  if (token != token_) {
    token_ = token;
    ++authorization_;
  }
  return token;
}

Result<std::uint64_t> HttpChannel::authorization(const Context& context) {
  BAWN_TRY(current_token(context));
  const std::scoped_lock lock(mutex_);
  return authorization_;
}

/// One exchange, and further ones with other tokens.
Result<HttpResponse> HttpChannel::exchange(const Context& context,
                                           std::optional<Clock::time_point> deadline,
                                           HttpExchange exchange, const Transfer::Watcher& watch,
                                           Pending* pending) {
  constexpr int kMostRefusals = 3;
  const auto plain = exchange.headers.size();
  for (int refusals = 0;; ++refusals) {
    const std::string token = BAWN_TRY(current_token(context));
    exchange.headers.resize(plain);
    if (!token.empty()) {
      exchange.headers.emplace_back("Authorization", "Bearer " + token);
    }
    const auto transfer = BAWN_TRY(pool_.lease());
    if (pending != nullptr) {
      const std::scoped_lock lock(mutex_);
      pending->transfer = transfer;
    }
    auto response = transfer->run(context, deadline, exchange, pool_.options(), watch);
    if (pending != nullptr) {
      const std::scoped_lock lock(mutex_);
      pending->transfer.reset();
    }
    if (!response || (response->status != 401 && response->status != 403)) {
      return response;
    }
    if (refusals == kMostRefusals || !BAWN_TRY(authorize_again(context, *response, token))) {
      return fail(
          ErrorCode::PermissionDenied,
          fmt::format("the server refuses (HTTP {}){}", response->status,
                      http_.authorization == nullptr ? ": it may want an authorization" : ""));
    }
  }
}

Result<bool> HttpChannel::authorize_again(const Context& context, const HttpResponse& response,
                                          const std::string& token) {
  auto challenge = read_challenge(response.status, response.header("www-authenticate"));
  challenge.token = token;
  if (http_.authorization == nullptr ||
      (response.status == 403 && challenge.error != "insufficient_scope")) {
    return false;
  }
  return http_.authorization->refused(context, challenge);
}

Result<RemoteAnswer> HttpChannel::ask(const Context& context, const Request& request) {
  Pending pending{.id = {}, .hooks = &request.hooks, .events = SseReader(options_.max_line_bytes)};
  std::string session;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) {
      return fail(ErrorCode::Closed, kClosed);
    }
    pending.id = fmt::format("bawn-{}", ++last_);
    if (request.method == "initialize") {
      session_.clear();
    }
    session = session_;
    pending_.insert(&pending);
  }
  auto response = exchange(
      context, request.deadline,
      {.url = url_,
       .headers = headers_of(request),
       .body = fmt::format(R"({{"jsonrpc":"2.0","id":"{}","method":"{}","params":{}}})", pending.id,
                           request.method, request.params(pending.id))},
      [&](HttpResponse& so_far) { return watch(so_far, pending); }, &pending);
  if (response && request.method == "initialize") {
    take_session(*response);
  }
  if (!pending.answer && !pending.events.last_id().empty()) {
    response = resume(context, request, pending);
  }
  {
    const std::scoped_lock lock(mutex_);
    pending_.erase(&pending);
  }
  if (pending.answer) {
    return *std::move(pending.answer);
  }
  if (!response) {
    const ErrorCode code = response.error().code();
    if (!has_headers() && (code == ErrorCode::Cancelled || code == ErrorCode::DeadlineExceeded)) {
      // In the newer rules the end of the connection says it.
      static_cast<void>(tell("notifications/cancelled", Json{{"requestId", pending.id}}));
    }
    // It may have arrived before the connection ended.
    return std::unexpected(code == ErrorCode::Closed
                               ? contract::as_unknown_outcome(response.error())
                               : response.error());
  }
  return refusal(*response, session);
}

/// The stream broke off: takes it up again where it was (older revisions).
Result<HttpResponse> HttpChannel::resume(const Context& context, const Request& request,
                                         Pending& pending) {
  constexpr std::chrono::milliseconds kPause{1000};
  constexpr std::chrono::milliseconds kLongestPause{60'000};
  Result<HttpResponse> response = fail(ErrorCode::Closed, "the stream broke off");
  std::string before;
  std::size_t resumptions = 0;
  while (!pending.answer) {
    resumptions = pending.events.last_id() == before ? resumptions + 1 : 1;
    before = pending.events.last_id();
    if (resumptions > http_.max_resumptions) {
      return response;
    }
    auto until = Clock::now() + std::min(pending.events.retry().value_or(kPause), kLongestPause);
    if (request.deadline && *request.deadline < until) {
      until = *request.deadline;
    }
    if (!pool_.wait_until(context, until)) {
      return context.cancelled() ? fail(ErrorCode::Cancelled, "the call was cancelled")
                                 : fail(ErrorCode::Closed, kClosed);
    }
    pending.events.restart();
    Headers headers = headers_for("");
    headers.emplace_back("Last-Event-ID", before);
    response = exchange(
        context, request.deadline, {.method = "GET", .url = url_, .headers = std::move(headers)},
        [&](HttpResponse& so_far) { return watch(so_far, pending); }, &pending);
    const bool broke = !response && response.error().code() == ErrorCode::Closed;
    if (!broke && (!response || !is_stream(*response))) {
      return response;
    }
  }
  return response;
}

/// Takes what came. False once the answer is among it.
bool HttpChannel::watch(HttpResponse& response, Pending& pending) {
  std::deque<Json> messages;
  {
    const std::scoped_lock lock(mutex_);
    messages.swap(pending.inbox);
  }
  if (is_stream(response)) {
    pending.events.feed(std::exchange(response.body, {}));
    while (const auto data = pending.events.next()) {
      if (auto message = contract::parse_json(*data)) {
        messages.push_back(*std::move(message));
      } else {
        log("the server sent an event that is no message; it was skipped");
      }
    }
    if (pending.events.too_long()) {
      log("the server sent a message that is too long");
      pending.answer =
          std::unexpected(RemoteError{.message = "a message of the server is too long"});
    }
  }
  for (const Json& message : messages) {
    accept(message, pending);
  }
  return !pending.answer;
}

void HttpChannel::accept(const Json& message, Pending& pending) {
  if (!message.is_object()) {
    return;
  }
  const Json method = message.value("method", Json());
  if (!method.is_string()) {
    if (message.value("id", Json()) == pending.id && !pending.answer) {
      pending.answer = answer_in(message);
    }
    return;
  }
  const Json params = message.value("params", Json::object());
  if (method == "notifications/progress") {
    if (pending.hooks->on_progress && params.is_object() &&
        params.value("progressToken", Json()) == pending.id) {
      pending.hooks->on_progress(params);
    }
  } else if (method == "elicitation/create" && message.contains("id")) {
    answer_question(message, *pending.hooks);
  } else {
    accept_unasked(message);
  }
}

void HttpChannel::answer_question(const Json& question, const RequestHooks& hooks) {
  const Json params = question.value("params", Json::object());
  const Json result = hooks.on_question ? hooks.on_question(params) : Json{{"action", "cancel"}};
  static_cast<void>(post({{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", result}}));
}

/// What belongs to no request, or to one that only its id names.
void HttpChannel::accept_unasked(const Json& message) {
  if (!message.is_object()) {
    return;
  }
  const Json method = message.value("method", Json());
  if (!method.is_string() || method == "elicitation/create") {
    const std::scoped_lock lock(mutex_);
    std::vector<Pending*> meant;
    std::ranges::copy_if(pending_, std::back_inserter(meant), [&](const Pending* one) {
      // An older server does not say which call it asks for: only one can be meant.
      return method.is_string() ? bool{one->hooks->on_question}
                                : message.value("id", Json()) == one->id;
    });
    if (meant.size() == 1) {
      meant.front()->inbox.push_back(message);
      if (meant.front()->transfer != nullptr) {
        meant.front()->transfer->wake();
      }
      return;
    }
  }
  if (!message.contains("id")) {
    if (method.is_string()) {
      notify_(method.get<std::string>(), message.value("params", Json::object()));
    }
  } else if (method == "elicitation/create") {
    answer_question(message, {});
  } else if (method == "ping") {
    static_cast<void>(
        post({{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", Json::object()}}));
  } else if (method.is_string()) {
    static_cast<void>(
        post({{"jsonrpc", "2.0"},
              {"id", message["id"]},
              {"error", {{"code", -32601}, {"message", "this client does not offer that"}}}}));
  }
}

/// What a response that brought no answer on a stream says.
RemoteAnswer HttpChannel::refusal(const HttpResponse& response, const std::string& session) {
  const auto message = contract::parse_json(response.body);
  const bool json = message && message->is_object() &&
                    (message->contains("result") || message->contains("error"));
  if (json && response.status == 200) {
    return answer_in(*message);
  }
  RemoteAnswer answer =
      std::unexpected(RemoteError{.message = response.status == 200 || response.status == 202
                                                 ? "the server gave no answer"
                                                 : fmt::format("HTTP status {}", response.status)});
  if (json && message->contains("error")) {
    answer = answer_in(*message);
  }
  if (!answer) {
    answer.error().http_status = response.status;
    answer.error().session_ended = response.status == 404 && !session.empty();
  }
  return answer;
}

Result<> HttpChannel::tell(std::string_view method, const Json& params) {
  Json message = {{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.empty()) {
    message["params"] = params;
  }
  return post(message);
}

/// A message that has no answer.
Result<> HttpChannel::post(const Json& message) {
  constexpr std::chrono::seconds kPatience{5};
  const Json method = message.value("method", Json());
  BAWN_TRY(exchange(Context(), Clock::now() + kPatience,
                    {.url = url_,
                     .headers = headers_for(method.is_string() ? method.get<std::string>() : ""),
                     .body = contract::dump_json(message)},
                    {}, nullptr));
  return {};
}

Result<> HttpChannel::listen(const Context& context, const std::function<void()>& opened) {
  SseReader events(options_.max_line_bytes);
  Headers headers = headers_for("");
  if (!last_heard_.empty()) {
    headers.emplace_back("Last-Event-ID", last_heard_);
  }
  bool streams = false;
  const auto response = exchange(
      context, std::nullopt, {.method = "GET", .url = url_, .headers = std::move(headers)},
      [&](HttpResponse& so_far) {
        if (is_stream(so_far)) {
          if (!std::exchange(streams, true)) {
            opened();
          }
          events.feed(std::exchange(so_far.body, {}));
          while (const auto data = events.next()) {
            accept_unasked(contract::parse_json(*data).value_or(Json()));
          }
          last_heard_ = events.last_id();
        }
        return !events.too_long();
      },
      nullptr);
  if (!streams && response) {
    return fail(ErrorCode::Unsupported, "the server has no stream of its own messages");
  }
  if (!response && response.error().message() == kClosed) {
    return std::unexpected(response.error());
  }
  return {};
}

void HttpChannel::close() {
  std::string session;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(closed_, true)) {
      return;
    }
    session = version_ >= kModernVersion ? "" : session_;
  }
  Headers headers = headers_for("");
  pool_.close();
  if (session.empty()) {
    return;
  }
  constexpr std::chrono::seconds kPatience{1};
  TransferPool last(pool_.options());
  if (http_.authorization != nullptr) {
    if (const auto token = http_.authorization->token(Context()); token && !token->empty()) {
      headers.emplace_back("Authorization", "Bearer " + *token);
    }
  }
  if (const auto transfer = last.lease()) {
    static_cast<void>((*transfer)->run(
        Context(), Clock::now() + kPatience,
        {.method = "DELETE", .url = url_, .headers = std::move(headers)}, last.options()));
  }
}

void HttpChannel::log(std::string_view line) const {
  if (options_.log) {
    options_.log(line);
  }
}

}  // namespace bawn::mcp
