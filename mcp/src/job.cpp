#include "job.hpp"

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/progress.hpp"
#include "call_result.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::Outcome;

/// Runs `work` and gives the text of what it threw, if anything.
template <class Work>
std::optional<std::string> caught(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return std::nullopt;
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

class ListJob final : public Job {
 public:
  explicit ListJob(JobContext context) : context_(std::move(context)) {}

  void run() noexcept override {
    const auto thrown = caught([&] {
      const LiveRequest& request = *context_.request;
      Json result = Json::object();
      result["tools"] = context_.core->catalog.list(request.context(), request.era().features());
      context_.answer(
          context_.core->finished(std::move(result), request.era(), context_.core->list_caching()));
    });
    if (thrown) {
      context_.core->log.warn(fmt::format("tools/list: {}", *thrown));
      context_.fail(RpcCode::InternalError, "The tools could not be listed");
    }
  }

  void refuse(std::string_view why) noexcept override {
    context_.fail(RpcCode::InternalError, std::string(why));
  }

 private:
  const JobContext context_;
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
  CallJob(JobContext context, const contract::Tool& tool, std::string arguments,
          bool wants_progress)
      : context_(std::move(context)),
        tool_(tool),
        arguments_(std::move(arguments)),
        wants_progress_(wants_progress) {}

  void run() noexcept override {
    if (!context_.request->open()) {
      return;  // cancelled while it waited for a thread
    }
    const auto thrown = caught([&] { call(); });
    if (thrown) {
      context_.core->log.warn(fmt::format("{}: {}", tool_.definition().name, *thrown));
      context_.fail(RpcCode::InternalError, "The call could not be carried out");
    }
  }

  void refuse(std::string_view why) noexcept override {
    context_.peer->answer(context_.request, raw_result_line(context_.request->id(),
                                                            error_result(*context_.core, why,
                                                                         context_.request->era())));
  }

 private:
  void call() {
    const LiveRequest& request = *context_.request;
    const auto available = contract::is_available(tool_, request.context());
    if (!available.value_or(false)) {
      // The same words as for a tool that does not exist: a caller learns nothing of the others'.
      context_.fail(RpcCode::InvalidParams, "Unknown tool: " + shown(tool_.definition().name));
      return;
    }
    const Outcome outcome = execute();
    if (!request.open()) {
      return;
    }
    std::string line =
        raw_result_line(request.id(), call_result(*context_.core, tool_, outcome, request.era()));
    const std::size_t limit = context_.core->options.max_result_bytes;
    if (line.size() > limit) {
      line = raw_result_line(
          request.id(),
          error_result(*context_.core,
                       fmt::format("the call ran, but its result of {} bytes is over the "
                                   "limit of {} bytes; ask for less output",
                                   line.size(), limit),
                       request.era()));
    }
    context_.peer->answer(context_.request, std::move(line));
  }

  Outcome execute() {
    contract::Call call{.id = context_.core->next_call_id(),
                        .args = std::move(arguments_),
                        .idempotency_key = {},
                        .on_update = {}};
    if (wants_progress_) {
      call.on_update = [request = context_.request](const contract::ToolResult& update) {
        request->progress(progress_of(update));
      };
    }
    const contract::Context context =
        contract::with_call(context_.request->context(), std::move(call));
    Outcome outcome;
    const auto thrown =
        caught([&] { outcome = tool_.execute(context, *contract::call_from(context)); });
    if (thrown) {
      return Error(ErrorCode::ToolPanicked,
                   fmt::format("tool \"{}\" panicked: {}", tool_.definition().name, *thrown));
    }
    return outcome;
  }

  const JobContext context_;
  const contract::Tool& tool_;
  std::string arguments_;
  const bool wants_progress_;
};

}  // namespace

void JobContext::answer(const Json& result) const {
  peer->answer(request, result_line(request->id(), result));
}

void JobContext::fail(RpcCode code, std::string message) const {
  peer->answer(request,
               error_line(request->id(), RpcError{.code = code, .message = std::move(message)}));
}

JobPtr make_list_job(JobContext context) {
  return std::make_unique<ListJob>(std::move(context));
}

JobPtr make_call_job(JobContext context, const contract::Tool& tool, std::string arguments,
                     bool wants_progress) {
  return std::make_unique<CallJob>(std::move(context), tool, std::move(arguments), wants_progress);
}

}  // namespace bawn::mcp
