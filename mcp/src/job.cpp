#include "job.hpp"

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/progress.hpp"
#include "bawn/contract/quote.hpp"
#include "call_result.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::Outcome;

/// Answers for `request`, whichever of an exchange it is.
void answer(const std::shared_ptr<Peer>& peer, const LiveRequestPtr& request, std::string line,
            HttpStatus status = HttpStatus::Ok) {
  peer->answer(request, std::move(line), status);
}

void fail(const std::shared_ptr<Peer>& peer, const LiveRequestPtr& request, RpcError error) {
  const HttpStatus status =
      error.code == RpcCode::MissingCapability ? HttpStatus::BadRequest : HttpStatus::Ok;
  answer(peer, request, error_line(request->id(), error), status);
}

/// -32021 for a call that cannot run without what its modern client did not declare.
std::optional<RpcError> missing_capability(const Error& error, const Era& era) {
  const auto* const missing = error.find<MissingCapability>();
  if (missing == nullptr || !era.modern) {
    return std::nullopt;
  }
  return RpcError{.code = RpcCode::MissingCapability,
                  .message = error.message(),
                  .data = Json{{"requiredCapabilities", missing->required}}};
}

class ListJob final : public Job {
 public:
  explicit ListJob(JobContext context) : context_(std::move(context)) {}

  void run() noexcept override {
    const auto thrown = contract::catch_panic([&] {
      const LiveRequest& request = *context_.request;
      const Core& core = *context_.core;
      const auto catalog = core.catalog();
      if (!catalog) {
        core.log.warn(fmt::format("tools/list: {}", catalog.error().message()));
        refuse("The tools could not be made");
        return;
      }
      const std::string tools =
          R"({"tools":)" +
          (*catalog)->list(request.context(), request.era().features(), core.report_text);
      answer(context_.peer, context_.request,
             raw_result_line(request.id(), core.finished_text(tools, request.era(),
                                                              core.list_caching(**catalog))));
    });
    if (thrown) {
      context_.core->log.warn(
          fmt::format("tools/list: {}", contract::plain_or_quoted(thrown->value)));
      refuse("The tools could not be listed");
    }
  }

  void refuse(std::string_view why) noexcept override {
    fail(context_.peer, context_.request,
         {.code = RpcCode::InternalError, .message = std::string(why)});
  }

 private:
  const JobContext context_;
};

class WorkJob final : public Job {
 public:
  WorkJob(JobContext context, std::string_view what, std::optional<Caching> caching, Work work)
      : context_(std::move(context)), what_(what), caching_(caching), work_(std::move(work)) {}

  void run() noexcept override {
    if (!context_.request->open()) {
      return;
    }
    const auto exchange =
        Exchange::begin(context_.core, context_.peer, context_.request, context_.bound);
    const auto thrown = contract::catch_panic([&] {
      auto result = work_(exchange->context());
      const LiveRequestPtr request = exchange->current();
      if (!result) {
        fail(exchange->peer(), request, std::move(result.error()));
        return;
      }
      answer(exchange->peer(), request,
             result_line(request->id(),
                         context_.core->finished(*std::move(result), request->era(), caching_)));
    });
    if (thrown) {
      context_.core->log.warn(
          fmt::format("{}: {}", what_, contract::plain_or_quoted(thrown->value)));
      fail(exchange->peer(), exchange->current(),
           {.code = RpcCode::InternalError, .message = "The request could not be carried out"});
    }
  }

  void refuse(std::string_view why) noexcept override {
    fail(context_.peer, context_.request,
         {.code = RpcCode::InternalError, .message = std::string(why)});
  }

 private:
  const JobContext context_;
  const std::string what_;
  const std::optional<Caching> caching_;
  const Work work_;
};

std::string text_of(const contract::ToolResult& update) {
  if (const auto* const text = std::get_if<std::string>(&update.output)) {
    return *text;
  }
  for (const contract::Part& part : std::get<std::vector<contract::Part>>(update.output)) {
    if (part.is_object() && part.contains("text") && part["text"].is_string()) {
      return part["text"].get<std::string>();
    }
  }
  return {};
}

/// An update's numbers, when it has some, and its text.
Progress progress_of(const contract::ToolResult& update) {
  Progress progress{.done = {}, .total = {}, .message = text_of(update)};
  if (const auto* const info = dynamic_cast<const contract::ProgressInfo*>(update.details.get())) {
    progress.done = info->progress();
    progress.total = info->total();
    if (progress.message.empty()) {
      progress.message = info->message();
    }
  }
  return progress;
}

class CallJob final : public Job {
 public:
  CallJob(JobContext context, EntryPtr entry, std::string arguments, bool wants_progress)
      : context_(std::move(context)),
        entry_(std::move(entry)),
        arguments_(std::move(arguments)),
        wants_progress_(wants_progress) {}

  void begin() noexcept override {
    const contract::Properties& known = entry_->tool->properties();
    if (known.resources || !known.resource.empty()) {
      static_cast<void>(contract::catch_panic([&] { place_ = context_.core->next_place(); }));
    }
  }

  void run() noexcept override {
    if (!context_.request->open()) {
      return;  // cancelled while it waited for a thread
    }
    const auto exchange =
        Exchange::begin(context_.core, context_.peer, context_.request, context_.bound);
    const auto thrown = contract::catch_panic([&] { call(*exchange); });
    if (thrown) {
      context_.core->log.warn(
          fmt::format("{}: {}", name(), contract::plain_or_quoted(thrown->value)));
      fail(exchange->peer(), exchange->current(),
           {.code = RpcCode::InternalError, .message = "The call could not be carried out"});
    }
  }

  void refuse(std::string_view why) noexcept override {
    answer(context_.peer, context_.request,
           raw_result_line(context_.request->id(),
                           error_result(*context_.core, why, context_.request->era())));
  }

 private:
  [[nodiscard]] const std::string& name() const { return entry_->tool->definition().name; }

  void call(Exchange& exchange) {
    const auto available = contract::is_available(*entry_->tool, exchange.context());
    if (!available.value_or(false)) {
      // The same words as for a tool that does not exist: a caller learns nothing of the others'.
      fail(exchange.peer(), exchange.current(),
           {.code = RpcCode::InvalidParams, .message = "Unknown tool: " + shown(name())});
      return;
    }
    const Outcome outcome = execute(exchange);
    const LiveRequestPtr request = exchange.current();
    if (!request->open()) {
      return;
    }
    if (const auto missing =
            outcome.error ? missing_capability(*outcome.error, request->era()) : std::nullopt) {
      fail(exchange.peer(), request, *missing);
      return;
    }
    std::string line = raw_result_line(
        request->id(), call_result(*context_.core, *entry_, outcome, request->era()));
    const std::size_t limit = context_.core->options.max_result_bytes;
    if (line.size() > limit) {
      line = raw_result_line(
          request->id(),
          error_result(*context_.core,
                       fmt::format("the call ran, but its result of {} bytes is over the "
                                   "limit of {} bytes; ask for less output",
                                   line.size(), limit),
                       request->era()));
    }
    answer(exchange.peer(), request, std::move(line));
  }

  Outcome execute(Exchange& exchange) {
    contract::Call call{.id = context_.core->next_call_id(),
                        .args = std::move(arguments_),
                        .idempotency_key = {},
                        .on_update = {}};
    if (wants_progress_) {
      call.on_update = [weak = exchange.weak_from_this()](const contract::ToolResult& update) {
        if (const auto current = weak.lock()) {
          current->current()->progress(progress_of(update));
        }
      };
    }
    const contract::Context context = contract::with_call(exchange.context(), std::move(call));
    const contract::Call& started = *contract::call_from(context);
    if (const auto fits = entry_->check_input(started.args); !fits) {
      return fits.error();
    }
    if (auto turn = wait_for_turn(context); !turn) {
      return turn.error();
    }
    Outcome outcome = contract::execute_contained(*entry_->tool, context, started);
    place_.leave();
    return outcome;
  }

  /// Calls that change one file keep the order in which the client sent them.
  contract::Result<> wait_for_turn(const contract::Context& context) {
    std::vector<std::string> resources;
    const auto thrown = contract::catch_panic([&] {
      resources =
          contract::resources_of(*entry_->tool, context, contract::call_from(context)->args);
    });
    if (thrown) {
      context_.core->log.warn(
          fmt::format("{}: resources: {}", name(), contract::plain_or_quoted(thrown->value)));
    }
    return place_.wait(context, std::move(resources));
  }

  const JobContext context_;
  const EntryPtr entry_;
  std::string arguments_;
  contract::ResourceOrder::Place place_;
  const bool wants_progress_;
};

}  // namespace

JobPtr make_list_job(JobContext context) {
  return std::make_unique<ListJob>(std::move(context));
}

JobPtr make_call_job(JobContext context, EntryPtr entry, std::string arguments,
                     bool wants_progress) {
  return std::make_unique<CallJob>(std::move(context), std::move(entry), std::move(arguments),
                                   wants_progress);
}

JobPtr make_work_job(JobContext context, std::string_view what, std::optional<Caching> caching,
                     Work work) {
  return std::make_unique<WorkJob>(std::move(context), what, caching, std::move(work));
}

}  // namespace bawn::mcp
