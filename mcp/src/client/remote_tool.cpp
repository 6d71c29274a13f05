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
  RemoteTool(const ListedTool& listed, std::shared_ptr<RemoteClient> client)
      : Tool(listed.definition, listed.properties),
        client_(std::move(client)),
        remote_name_(listed.remote_name),
        mirrored_(listed.mirrored) {}

  Outcome execute(const Context& context, const Call& call) const override {
    const auto arguments = contract::parse_json(call.args.empty() ? "{}" : call.args);
    if (!arguments || !arguments->is_object()) {
      return Error(
          ErrorCode::InvalidArgument,
          "invalid arguments: " + (arguments ? "not a JSON object" : arguments.error().message()));
    }
    const std::uint64_t seen = client_->list().seen();
    Outcome outcome = run(context, call, *arguments);
    const auto& hints = properties().annotations;
    client_->settle(context, seen, hints && hints->read_only);
    return outcome;
  }

  bool checks_arguments() const noexcept override { return true; }

 private:
  [[nodiscard]] Outcome run(const Context& context, const Call& call, const Json& arguments) const {
    const ClientOptions& options = client_->options();
    std::optional<Channel::Clock::time_point> deadline = context.deadline();
    if (options.call_timeout) {
      const auto own = Channel::Clock::now() + *options.call_timeout;
      deadline = deadline ? std::min(*deadline, own) : own;
    }
    std::string state;
    for (std::size_t round = 0; round < kMostRounds; ++round) {
      auto answer = ask(context,
                        {.method = "tools/call",
                         .members = members(arguments, state),
                         .progress = bool{call.on_update},
                         .deadline = deadline,
                         .hooks = hooks(context, call),
                         .name = remote_name_,
                         .parameters = mirrored_values(mirrored_, arguments)},
                        arguments);
      if (!answer) {
        return wrapped(answer.error());
      }
      if (!*answer) {
        constexpr int kInvalidParams = -32602;  // also said of a tool that is gone
        if ((*answer).error().code == kInvalidParams) {
          client_->forget_tools();
        }
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
        give_up(result, arguments);
        return wrapped(next.error());
      }
      state = *std::move(next);
    }
    return Error(ErrorCode::ToolFailed,
                 fmt::format("mcp: call \"{}\" asked too often", remote_name_));
  }

  /// Asks once more, with the headers of a fresh list, when the server expected others.
  [[nodiscard]] Result<RemoteAnswer> ask(const Context& context, RemoteClient::Request request,
                                         const Json& arguments) const {
    constexpr int kHeaderMismatch = -32020;
    auto answer = client_->ask(context, request);
    if (!answer || answer->has_value() || answer->error().code != kHeaderMismatch) {
      return answer;
    }
    client_->forget_tools();
    const auto listed = client_->list().refresh(context);
    const auto fresh = listed ? std::ranges::find(**listed, remote_name_, &ListedTool::remote_name)
                              : ListedTools::const_iterator();
    if (!listed || fresh == (*listed)->end()) {
      return answer;
    }
    request.parameters = mirrored_values(fresh->mirrored, arguments);
    return client_->ask(context, request);
  }

  [[nodiscard]] Error wrapped(const Error& error) const {
    if (error.code() == ErrorCode::DeadlineExceeded) {
      return contract::as_unknown_outcome(
          {error.code(),
           fmt::format("mcp: call \"{}\": no answer in time; what it did is not known",
                       remote_name_)});
    }
    return error.message() == kClosed ? error
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

  /// What the form suggests stands for what the person left out (SEP-1034).
  static Json with_defaults(Json content, const std::optional<Json>& form) {
    const Json fields = form && form->is_object() ? form->value("properties", Json()) : Json();
    if (fields.is_object() && content.is_object()) {
      for (const auto& [name, field] : fields.items()) {
        if (field.is_object() && field.contains("default") && !content.contains(name)) {
          content[name] = field["default"];
        }
      }
    }
    return content;
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
      json["content"] = with_defaults(*answer.content, question.schema);
    }
    return json;
  }

  /// Tells a server whose questions stay without an answer, so that its tool does not wait for one.
  /// Waits for nothing: the request is cancelled as soon as it is sent.
  void give_up(const Json& result, const Json& arguments) const {
    const contract::CancelSource source{Context()};
    source.cancel();
    const contract::Elicitor nobody = [](const Context&, const contract::Elicitation&) {
      return Result<contract::Answer>(contract::Answer{});
    };
    if (const auto cancels = answers(contract::with_elicitor(Context(), nobody), result)) {
      static_cast<void>(
          client_->ask(source.context(), {.method = "tools/call",
                                          .members = members(arguments, *cancels),
                                          .name = remote_name_,
                                          .parameters = mirrored_values(mirrored_, arguments)}));
    }
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
  const std::vector<MirroredArgument> mirrored_;
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

/// The host's options, and what it trusts the server to say.
void take_host_words(ListedTool& tool, const ClientOptions& options, const Json& entry) {
  contract::Properties& properties = tool.properties;
  const auto& hints = properties.annotations;
  std::optional<contract::Replay> replay;
  if (options.trust_annotations && hints && (hints->read_only || hints->idempotent)) {
    replay = contract::Replay::Safe;
  }
  properties.confined = options.confined;
  if (!properties.confined && options.trusted) {
    if (const auto forecast = confinement_in(entry.value("_meta", Json()))) {
      properties.confined = [forecast](const Context&, std::string_view) { return *forecast; };
    }
  }
  if (options.trusted) {
    take_order(properties, entry);
  }
  for (const RemoteToolOptions& own : options.tools) {
    if (own.name == tool.remote_name || own.name == tool.definition.name) {
      properties.resource = own.resource.value_or(properties.resource);
      properties.sequential = properties.sequential || own.sequential;
      properties.confined = own.confined.value_or(properties.confined);
      replay = own.replay ? own.replay : replay;
      tool.approval = own.approval ? own.approval : tool.approval;
    }
  }
  if (replay) {
    properties.replay = [value = *replay](const Context&, std::string_view) { return value; };
  }
}

}  // namespace

Result<ListedTool> listed_tool(const ClientOptions& options, const Json& entry) {
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
  ListedTool tool{.definition = std::move(definition), .remote_name = name};
  if (entry.contains("outputSchema")) {
    if (!contract::is_object_schema(entry["outputSchema"])) {
      return wrong("its output schema is not an object's");
    }
    tool.properties.output_schema = contract::dump_json(entry["outputSchema"]);
  }
  if (entry.contains("annotations") || entry.contains("title")) {
    tool.properties.annotations = hints_of(entry);
  }
  take_host_words(tool, options, entry);
  return tool;
}

contract::Result<contract::ToolPtr> make_remote_tool(const std::shared_ptr<RemoteClient>& client,
                                                     const ListedTool& listed) {
  contract::ToolPtr tool = std::make_shared<const RemoteTool>(listed, client);
  return listed.approval ? contract::guard(tool, listed.approval) : tool;
}

}  // namespace bawn::mcp
