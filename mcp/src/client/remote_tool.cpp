// A remote tool as a contract tool. Everything that the server says is untrusted.

#include "bawn/contract/admission.hpp"
#include "bawn/contract/call_context.hpp"
#include "bawn/contract/definition.hpp"
#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/outcome_class.hpp"
#include "bawn/contract/progress.hpp"
#include "client/connection.hpp"
#include "client/remote_result.hpp"
#include "protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Call;
using contract::Context;
using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Outcome;
using contract::Result;
using contract::ToolResult;

constexpr std::size_t kMostRounds = 10;

/// The server behind it checks the arguments.
class RemoteTool final : public contract::Tool, public contract::SelfChecking {
 public:
  RemoteTool(contract::Definition definition, contract::Properties properties,
             std::shared_ptr<RemoteClient> client, std::string remote_name)
      : Tool(std::move(definition), std::move(properties)),
        client_(std::move(client)),
        remote_name_(std::move(remote_name)) {}

  Outcome execute(const Context& context, const Call& call) const override {
    const auto arguments = contract::parse_json(call.args.empty() ? "{}" : call.args);
    if (!arguments || !arguments->is_object()) {
      return Error(
          ErrorCode::InvalidArgument,
          "invalid arguments: " + (arguments ? "not a JSON object" : arguments.error().message()));
    }
    const ClientOptions& options = client_->options();
    std::optional<Wire::Clock::time_point> deadline = context.deadline();
    if (options.call_timeout) {
      const auto own = Wire::Clock::now() + *options.call_timeout;
      deadline = deadline ? std::min(*deadline, own) : own;
    }
    std::string state;
    for (std::size_t round = 0; round < kMostRounds; ++round) {
      auto answer = client_->ask(context, "tools/call", members(*arguments, state),
                                 bool{call.on_update}, deadline, hooks(context, call));
      if (!answer) {
        return wrapped(answer.error());
      }
      if (!*answer) {
        return Error(ErrorCode::ToolFailed, fmt::format("mcp: call \"{}\": {}", remote_name_,
                                                        shown((*answer).error().message)));
      }
      const Json& result = **answer;
      const std::string type = string_member(result, "resultType");
      if (type.empty() || type == "complete") {
        return outcome_of(remote_name_, result, options);
      }
      if (type != "input_required" || !options.elicitation) {
        return Error(ErrorCode::ToolFailed,
                     fmt::format("mcp: call \"{}\" needs input, or answers in a way that is not "
                                 "known here",
                                 remote_name_));
      }
      auto next = answers(context, result);
      if (!next) {
        return wrapped(next.error());
      }
      state = *std::move(next);
    }
    return Error(ErrorCode::ToolFailed,
                 fmt::format("mcp: call \"{}\" asked too often", remote_name_));
  }

  bool checks_arguments() const noexcept override { return true; }

 private:
  [[nodiscard]] Error wrapped(const Error& error) const {
    if (error.code() == ErrorCode::DeadlineExceeded) {
      return contract::as_unknown_outcome(
          {error.code(),
           fmt::format("mcp: call \"{}\": no answer in time; what it did is not known",
                       remote_name_)});
    }
    return error.code() == ErrorCode::Closed
               ? error
               : error.wrap(fmt::format("mcp: call \"{}\"", remote_name_));
  }

  [[nodiscard]] std::string members(const Json& arguments, const std::string& state) const {
    return fmt::format("\"name\":{},\"arguments\":{}{}", contract::dump_json(Json(remote_name_)),
                       contract::dump_json(arguments), state);
  }

  [[nodiscard]] RequestHooks hooks(const Context& context, const Call& call) const {
    RequestHooks hooks;
    if (call.on_update) {
      hooks.on_progress = [&call](const Json& params) {
        const Json done = params.value("progress", Json());
        const Json total = params.value("total", Json());
        if (done.is_number()) {
          ToolResult update = contract::text_result(string_member(params, "message"));
          update.details = std::make_shared<contract::ProgressInfo>(
              done.get<double>(),
              total.is_number() ? std::optional(total.get<double>()) : std::nullopt,
              string_member(params, "message"));
          call.on_update(update);
        }
      };
    }
    if (client_->options().elicitation && !client_->modern()) {
      hooks.on_question = [&context](const Json& params) {
        const auto answer = answer_to(context, params);
        return answer.value_or(Json{{"action", "cancel"}});
      };
    }
    return hooks;
  }

  /// Puts one question of the server's to the elicitor on the context.
  static Result<Json> answer_to(const Context& context, const Json& params) {
    contract::Elicitation question{.message = string_member(params, "message")};
    if (const std::string url = string_member(params, "url"); !url.empty()) {
      question.url = url;
    } else if (params.is_object() && params.contains("requestedSchema")) {
      question.schema = params["requestedSchema"];
    }
    const contract::Answer answer = BAWN_TRY(contract::elicit(context, question));
    Json json = {{"action", contract::to_string(answer.action)}};
    if (answer.content) {
      json["content"] = *answer.content;
    }
    return json;
  }

  /// The members that the next round adds to the request.
  static Result<std::string> answers(const Context& context, const Json& result) {
    Json responses = Json::object();
    const Json requests = result.value("inputRequests", Json::object());
    if (!requests.is_object()) {
      return fail(ErrorCode::ToolFailed, "inputRequests is not an object");
    }
    for (const auto& [key, request] : requests.items()) {
      if (string_member(request, "method") != "elicitation/create") {
        return fail(ErrorCode::ToolFailed, "the server asks for something that was not offered");
      }
      responses[key] = BAWN_TRY(answer_to(context, request.value("params", Json::object())));
    }
    std::string text = ",\"inputResponses\":" + contract::dump_json(responses);
    if (result.contains("requestState")) {
      text += ",\"requestState\":" + contract::dump_json(result["requestState"]);
    }
    return text;
  }

  const std::shared_ptr<RemoteClient> client_;
  const std::string remote_name_;
};

bool is_name(std::string_view name) {
  constexpr std::size_t kLongest = 128;
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  });
}

contract::Annotations hints_of(const Json& entry) {
  const Json hints = entry.value("annotations", Json::object());
  const auto flag = [&](const char* name, bool otherwise) {
    const Json value = hints.is_object() ? hints.value(name, Json()) : Json();
    return value.is_boolean() ? value.get<bool>() : otherwise;
  };
  const std::string title = string_member(entry, "title");
  return {.title = title.empty() ? string_member(hints, "title") : title,
          .read_only = flag("readOnlyHint", false),
          .destructive = flag("destructiveHint", true),
          .idempotent = flag("idempotentHint", false),
          .open_world = flag("openWorldHint", true)};
}

/// What a trusted server says of the order of a tool's calls; members of a wrong type say nothing.
void take_order(contract::Properties& properties, const Json& entry) {
  const Json members = entry.value("_meta", Json());
  const Json said =
      members.is_object() ? members.value(std::string(meta::kAgenttoolTool), Json()) : Json();
  properties.resource = string_member(said, "resource");
  properties.sequential = said.is_object() && said.value("sequential", Json()) == true;
}

void take_claim(contract::Properties& properties, const RemoteToolOptions& claim) {
  properties.resource = claim.resource.value_or(properties.resource);
  properties.sequential = properties.sequential || claim.sequential;
  properties.confined = claim.confined.value_or(properties.confined);
}

}  // namespace

Result<contract::ToolPtr> make_remote_tool(const std::shared_ptr<RemoteClient>& client,
                                           const Json& entry) {
  const ClientOptions& options = client->options();
  const std::string name = string_member(entry, "name");
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorCode::ToolFailed,
                fmt::format("mcp: tools/list: tool {}: {}", shown(name), why));
  };
  if (!is_name(name)) {
    return wrong("its name must be 1 to 128 of A-Z, a-z, 0-9, _, - and .");
  }
  const Json input = entry.value("inputSchema", Json());
  if (!contract::is_object_schema(input)) {
    return wrong("its input schema is missing or not an object's");
  }
  contract::Definition definition{
      .name = options.prefix.empty() ? name : options.prefix + "__" + name,
      .description = string_member(entry, "description"),
      .parameters = contract::dump_json(input)};
  const std::size_t limit = options.max_description_bytes;
  if (limit != 0 && definition.description.size() > limit) {
    return wrong(fmt::format("its description has more than {} bytes", limit));
  }
  contract::Properties properties;
  if (entry.contains("outputSchema")) {
    if (!contract::is_object_schema(entry["outputSchema"])) {
      return wrong("its output schema is not an object's");
    }
    properties.output_schema = contract::dump_json(entry["outputSchema"]);
  }
  if (entry.contains("annotations") || entry.contains("title")) {
    properties.annotations = hints_of(entry);
  }
  properties.confined = options.confined;
  if (options.trusted) {
    take_order(properties, entry);
  }
  for (const RemoteToolOptions& own : options.tools) {
    if (own.name == name || own.name == definition.name) {
      take_claim(properties, own);
    }
  }
  return std::make_shared<const RemoteTool>(std::move(definition), std::move(properties), client,
                                            name);
}

}  // namespace bawn::mcp
