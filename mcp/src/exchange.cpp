#include "exchange.hpp"

#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/json_schema.hpp"
#include "raw_json.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Answer;
using contract::AnswerAction;
using contract::Context;
using contract::Elicitation;
using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

/// Found on the context of a running request.
struct CurrentExchange {
  std::weak_ptr<Exchange> exchange;
};

ExchangePtr exchange_of(const Context& context) {
  const auto* const found = context.find<CurrentExchange>();
  return found == nullptr ? nullptr : found->exchange.lock();
}

std::string_view capability_of(std::string_view method) {
  return method.substr(0, method.find('/'));
}

Error missing(std::string_view capability) {
  return Error(ErrorCode::Unsupported,
               fmt::format("the client does not offer {}, which this needs", capability))
      .with_payload(MissingCapability{.required = {{std::string(capability), Json::object()}}});
}

/// An answer to elicitation/create: a known action, and content that fits the form.
Result<Answer> answer_of(const Json& value, const Elicitation& question) {
  const auto action = value.find("action");
  if (action == value.end() || !action->is_string()) {
    return fail(ErrorCode::InvalidArgument, "elicitation answer: action must be a string");
  }
  Answer answer{.action = BAWN_TRY(contract::answer_action(action->get<std::string>())),
                .content = {}};
  const auto content = value.find("content");
  if (answer.action != AnswerAction::Accept || question.url || content == value.end()) {
    if (answer.action == AnswerAction::Accept && question.schema && !question.url) {
      return fail(ErrorCode::InvalidArgument, "elicitation answer: content is missing");
    }
    return answer;
  }
  if (!content->is_object()) {
    return fail(ErrorCode::InvalidArgument, "elicitation answer: content is not an object");
  }
  if (question.schema) {
    const auto schema = BAWN_TRY(contract::JsonSchema::compile(*question.schema));
    if (const auto valid = schema.validate(*content); !valid) {
      return std::unexpected(valid.error().wrap("elicitation answer"));
    }
  }
  answer.content = *content;
  return answer;
}

InputRequest request_of(const Elicitation& question, std::string key, bool modern) {
  Json params = {{"mode", question.url ? "url" : "form"}, {"message", question.message}};
  if (question.url) {
    params["url"] = *question.url;
    if (!modern) {
      params["elicitationId"] = key;
    }
  } else {
    params["requestedSchema"] =
        question.schema.value_or(Json{{"type", "object"}, {"properties", Json::object()}});
  }
  return {.key = std::move(key),
          .method = "elicitation/create",
          .params = std::move(params),
          .check = [question](const Json& value) -> Result<> {
            static_cast<void>(BAWN_TRY(answer_of(value, question)));
            return {};
          }};
}

/// Whether the client shows forms or pages: an empty capability means forms only.
bool shows(const Era& era, bool page) {
  const auto declared = raw_members(era.client_capabilities).find("elicitation");
  if (!declared || !is_raw_object(*declared)) {
    return false;
  }
  const RawObject modes = raw_members(*declared);
  return page ? modes.contains("url") : modes.contains("form") || !modes.contains("url");
}

}  // namespace

std::shared_ptr<Exchange> Exchange::begin(std::shared_ptr<const Core> core,
                                          std::shared_ptr<Peer> peer, LiveRequestPtr request,
                                          std::string bound) {
  std::shared_ptr<Exchange> exchange(
      new Exchange(std::move(core), std::move(peer), std::move(request), std::move(bound)));
  const std::weak_ptr<Exchange> weak = exchange;
  exchange->context_ = exchange->source_.context().with(CurrentExchange{.exchange = weak});
  if (exchange->offers("elicitation") && !contract::has_elicitor(exchange->context_)) {
    const auto numbered = std::make_shared<std::atomic<int>>(0);
    exchange->context_ = contract::with_elicitor(
        exchange->context_,
        [weak, numbered](const Context&, const Elicitation& question) -> Result<Answer> {
          const auto self = weak.lock();
          if (self == nullptr || !shows(self->current()->era(), question.url.has_value())) {
            return Answer{};
          }
          const std::string key =
              question.id.empty() ? fmt::format("elicit_{}", ++*numbered) : question.id;
          auto answers =
              BAWN_TRY(self->ask({request_of(question, key, self->current()->era().modern)}));
          return answer_of(answers[key], question);
        });
  }
  const std::scoped_lock lock(exchange->mutex_);
  exchange->follow(exchange->request_);
  return exchange;
}

Exchange::Exchange(std::shared_ptr<const Core> core, std::shared_ptr<Peer> peer,
                   LiveRequestPtr request, std::string bound)
    : core_(std::move(core)),
      bound_(std::move(bound)),
      source_(peer->context()),
      peer_(std::move(peer)),
      request_(std::move(request)) {}

Exchange::~Exchange() {
  if (number_ != 0) {
    core_->waiting->remove(number_);
  }
}

LiveRequestPtr Exchange::current() const {
  const std::scoped_lock lock(mutex_);
  return request_;
}

std::shared_ptr<Peer> Exchange::peer() const {
  const std::scoped_lock lock(mutex_);
  return peer_;
}

void Exchange::follow(const LiveRequestPtr& request) {
  // The callback may run at once, or on the canceller's thread at any time.
  ending_ = std::make_unique<std::stop_callback<std::function<void()>>>(
      request->context().stop_token(), [this, weak = std::weak_ptr<LiveRequest>(request)] {
        const auto ended = weak.lock();
        source_.cancel(ended == nullptr
                           ? contract::CancelReason::Cancelled
                           : ended->context().reason().value_or(contract::CancelReason::Cancelled));
      });
}

bool Exchange::offers(std::string_view capability) const {
  const LiveRequestPtr request = current();
  const Era& era = request->era();
  if (!era.modern && capability == "elicitation" && era.version < "2025-06-18") {
    return false;
  }
  return era.modern || peer()->can_ask() ? raw_members(era.client_capabilities).contains(capability)
                                         : false;
}

Result<Exchange::Answers> Exchange::ask(std::vector<InputRequest> requests) {
  for (const InputRequest& request : requests) {
    if (const auto capability = capability_of(request.method); !offers(capability)) {
      return std::unexpected(missing(capability));
    }
  }
  return current()->era().modern ? ask_modern(requests) : ask_legacy(requests);
}

Result<Exchange::Answers> Exchange::ask_modern(const std::vector<InputRequest>& requests) {
  while (true) {
    Answers answers = BAWN_TRY(one_round(requests));
    bool complete = true;
    for (const InputRequest& request : requests) {
      const auto found = answers.find(request.key);
      complete = complete && found != answers.end() && found->second.is_object() &&
                 (!request.check || request.check(found->second).has_value());
    }
    if (complete) {
      return answers;
    }
  }
}

Result<Exchange::Answers> Exchange::one_round(const std::vector<InputRequest>& requests) {
  Json input = Json::object();
  for (const InputRequest& request : requests) {
    input[request.key] = {{"method", request.method}};
    if (!request.params.empty()) {
      input[request.key]["params"] = request.params;
    }
  }
  std::unique_lock lock(mutex_);
  if (number_ == 0) {
    number_ = core_->waiting->add(shared_from_this(), core_->options.max_waiting_calls);
  }
  if (number_ == 0 || !core_->waiting->seal.usable()) {
    return fail(ErrorCode::ResourceExhausted, "too many calls wait for answers of clients");
  }
  if (round_ + 1 >= core_->options.max_rounds) {
    return fail(ErrorCode::ResourceExhausted,
                fmt::format("elicitation: the client makes {} requests of a call at most",
                            core_->options.max_rounds));
  }
  const auto expires = Clock::now() + core_->options.ask_timeout;
  const std::string state =
      core_->waiting->seal.seal({.call = number_, .round = ++round_, .expires = expires}, bound_);
  waiting_ = true;
  answers_.reset();
  const LiveRequestPtr request = request_;
  const std::shared_ptr<Peer> peer = peer_;
  // From here on the end of the answered request is not the end of the call.
  auto ending = std::move(ending_);
  lock.unlock();
  ending.reset();
  Json result = {{"resultType", "input_required"},
                 {"inputRequests", std::move(input)},
                 {"requestState", state},
                 {"_meta", {{meta::kServerInfo, core_->server_info(request->era().features())}}}};
  peer->answer(request, result_line(request->id(), result));
  lock.lock();
  const bool answered = changed_.wait_until(lock, context_.stop_token(), expires,
                                            [&] { return answers_.has_value(); });
  waiting_ = false;
  if (!answered) {
    return context_.cancelled()
               ? fail(ErrorCode::Cancelled, "the call was cancelled while it waited for an answer")
               : fail(ErrorCode::DeadlineExceeded, "no answer came in time");
  }
  return *std::move(answers_);
}

bool Exchange::resume(std::uint64_t round, std::shared_ptr<Peer> peer, LiveRequestPtr request,
                      Answers answers) {
  {
    const std::scoped_lock lock(mutex_);
    if (!waiting_ || round != round_ || answers_) {
      return false;
    }
    peer_ = std::move(peer);
    request_ = std::move(request);
    follow(request_);
    answers_ = std::move(answers);
  }
  changed_.notify_all();
  return true;
}

void Exchange::abandon() {
  source_.cancel(contract::CancelReason::Closed);
}

Result<Exchange::Answers> Exchange::ask_legacy(const std::vector<InputRequest>& requests) {
  Answers answers;
  for (const InputRequest& request : requests) {
    Json answer = BAWN_TRY(peer()->ask(*current(), context_, request.method, request.params,
                                       Clock::now() + core_->options.ask_timeout));
    if (request.check) {
      BAWN_TRY(request.check(answer));
    }
    answers[request.key] = std::move(answer);
  }
  return answers;
}

void Exchange::log(LogLevel level, const Json& data, std::string_view logger) const {
  constexpr std::array<const char*, 8> kNames = {"debug", "info",     "notice", "warning",
                                                 "error", "critical", "alert",  "emergency"};
  const LiveRequestPtr request = current();
  const bool modern = request->era().modern;
  const auto wanted = modern                   ? request->log_level()
                      : core_->options.logging ? std::optional(peer()->log_level())
                                               : std::nullopt;
  if (!wanted || static_cast<int>(level) < *wanted) {
    return;
  }
  Json params = {{"level", kNames.at(static_cast<std::size_t>(level))}, {"data", data}};
  if (!logger.empty()) {
    params["logger"] = logger;
  }
  request->tell(notification_line("notifications/message", params));
}

std::uint64_t WaitingCalls::add(const ExchangePtr& exchange, std::size_t limit) {
  const std::scoped_lock lock(mutex_);
  if (calls_.size() >= limit) {
    return 0;
  }
  calls_.emplace(++last_, exchange);
  return last_;
}

void WaitingCalls::remove(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  calls_.erase(number);
}

ExchangePtr WaitingCalls::find(std::uint64_t number) const {
  const std::scoped_lock lock(mutex_);
  const auto found = calls_.find(number);
  return found == calls_.end() ? nullptr : found->second.lock();
}

void WaitingCalls::abandon(const Peer* peer) const {
  std::vector<ExchangePtr> calls;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [number, weak] : calls_) {
      if (auto call = weak.lock()) {
        calls.push_back(std::move(call));
      }
    }
  }
  for (const ExchangePtr& call : calls) {
    if (peer == nullptr || call->peer().get() == peer) {
      call->abandon();
    }
  }
}

Result<std::map<std::string, Json>> ask_client(const Context& context,
                                               std::vector<InputRequest> requests) {
  const auto exchange = exchange_of(context);
  if (exchange == nullptr) {
    return fail(ErrorCode::Unsupported, "there is no client to ask");
  }
  return exchange->ask(std::move(requests));
}

bool client_offers(const Context& context, std::string_view capability) {
  const auto exchange = exchange_of(context);
  return exchange != nullptr && exchange->offers(capability);
}

Result<> require_capability(const Context& context, std::string_view capability) {
  if (!client_offers(context, capability)) {
    return std::unexpected(missing(capability));
  }
  return {};
}

void log_to_client(const Context& context, LogLevel level, const Json& data,
                   std::string_view logger) {
  if (const auto exchange = exchange_of(context)) {
    exchange->log(level, data, logger);
  }
}

}  // namespace bawn::mcp
