#include "bawn/contract/declare.hpp"

#include "bawn/contract/admission.hpp"
#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/definition.hpp"
#include "bawn/contract/executor.hpp"
#include "bawn/contract/json_schema.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/contract/validate.hpp"
#include "json_depth.hpp"
#include "tool_options.hpp"

#include <fmt/format.h>

namespace bawn::contract {
namespace {

Error invalid_tool(std::string_view name, std::string_view problem) {
  return Error(ErrorCode::InvalidArgument, fmt::format("tool {}: {}", quote(name), problem))
      .with_payload(CallProblem::InvalidTool);
}

/// What a call's arguments are checked against: the derived schema, or the one that was supplied.
struct InputRule {
  std::optional<Schema> derived{};
  std::optional<JsonSchema> supplied{};

  [[nodiscard]] Result<> check(const JsonNode& node) const {
    if (derived) {
      return validate(*derived, node);
    }
    if (const auto fits = supplied->validate(to_json(node)); !fits) {
      return std::unexpected(
          fits.error().wrap("invalid arguments").with_payload(CallProblem::InvalidInput));
    }
    return {};
  }
};

Result<JsonSchema> object_schema(std::string_view what, std::string_view text) {
  auto schema = JsonSchema::compile_text(text);
  if (!schema) {
    return std::unexpected(schema.error().wrap(what));
  }
  if (!is_object_schema(schema->document())) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{}: not of type \"object\"", what));
  }
  return schema;
}

class HandlerTool final : public Tool, public SelfChecking {
 public:
  HandlerTool(Definition definition, Properties properties, InputRule rule,
              detail::DeclaredHandler handler)
      : Tool(std::move(definition), std::move(properties)),
        rule_(std::move(rule)),
        handler_(std::move(handler)) {}

  Outcome execute(const Context& context, const Call& call) const override {
    auto output = run(context, call);
    if (!output) {
      return output.error();
    }
    ToolResult result = text_result(dump_json(*output));
    result.structured = *std::move(output);
    return result;
  }
  bool checks_arguments() const noexcept override { return true; }

  [[nodiscard]] Result<Json> run(const Context& context, const Call& call) const {
    if (context.cancelled()) {
      return std::unexpected(cancellation_error(context));
    }
    BAWN_TRY(check_available(*this, context));
    const JsonNode node = BAWN_TRY(parse_arguments(call.args));
    BAWN_TRY(rule_.check(node));
    if (context.cancelled()) {
      return std::unexpected(cancellation_error(context));
    }
    return handler_(context, call, node);
  }

  [[nodiscard]] std::shared_ptr<const HandlerTool> with(AvailabilityPolicy policy) const {
    Properties properties = this->properties();
    properties.availability = std::move(policy);
    return std::make_shared<const HandlerTool>(definition(), std::move(properties), rule_,
                                               handler_);
  }

 private:
  InputRule rule_;
  detail::DeclaredHandler handler_;
};

AvailabilityPolicy both(AvailabilityPolicy first, AvailabilityPolicy second) {
  if (!first) {
    return second;
  }
  return [first = std::move(first), second = std::move(second)](const Context& context) {
    const auto allowed = first(context);
    return allowed && *allowed ? second(context) : allowed;
  };
}

Properties take_properties(detail::DraftData& draft) {
  ToolOptions options = std::move(draft.properties);
  options.annotations = draft.annotations;
  options.output_schema = std::move(draft.output_schema);
  options.availability = std::move(draft.availability);
  options.cli = draft.wants_cli ? std::optional(std::move(draft.cli)) : std::nullopt;
  return detail::properties_of(std::move(options));
}

/// The first defect that is found only now that the draft is complete.
Result<InputRule> finish(const detail::DraftData& draft, const Result<Schema>& input,
                         const Definition& definition, const ExampleDecoder& decode_example) {
  if (!is_protocol_name(draft.name)) {
    return fail(ErrorCode::InvalidArgument,
                "a name has 1 to 128 of the characters A-Z a-z 0-9 _ . -");
  }
  InputRule rule;
  if (draft.input_schema) {
    rule.supplied = BAWN_TRY(object_schema("input schema", *draft.input_schema));
  } else {
    rule.derived = BAWN_TRY(Result<Schema>(input));
  }
  BAWN_TRY(object_schema("output schema", *draft.output_schema));
  if (draft.wants_cli) {
    const Json schema = BAWN_TRY(parse_json(*definition.parameters));
    BAWN_TRY(check_cli_info(draft.cli, schema, decode_example));
  }
  return rule;
}

}  // namespace

struct DeclaredTool::State {
  std::string name{};
  std::optional<Error> defect{};
  std::shared_ptr<const HandlerTool> tool{};  ///< null where there is a defect
  ToolInfo info{};
};

namespace detail {

void DraftData::note(std::string problem) {
  if (!defect) {
    defect = invalid_tool(name, problem);
  }
}

DeclaredTool publish(DraftData draft, Result<Schema> input, std::string inferred_output,
                     DeclaredHandler handler, const ExampleDecoder& decode_example) {
  Definition definition{.name = draft.name, .description = draft.description};
  if (draft.input_schema) {
    definition.parameters = draft.input_schema;
  } else if (input) {
    definition.parameters = dump_json(to_json(*input));
  }
  if (!draft.output_schema) {
    draft.output_schema = std::move(inferred_output);
  }
  auto rule = finish(draft, input, definition, decode_example);
  if (!rule) {
    draft.note(rule.error().message());
  }
  auto state = std::make_shared<DeclaredTool::State>();
  state->name = draft.name;
  state->defect = draft.defect;
  const auto tool = std::make_shared<const HandlerTool>(
      std::move(definition), take_properties(draft), rule ? *std::move(rule) : InputRule{},
      std::move(handler));
  state->info = describe_tool(*tool);
  if (!state->defect) {
    state->tool = tool;
  }
  return DeclaredTool(std::move(state));
}

Result<Json> object_output(Result<Json> encoded) {
  if (!encoded) {
    return std::unexpected(classified(CallProblem::InvalidOutput,
                                      "invalid output: " + encoded.error().message(),
                                      encoded.error()));
  }
  const auto bounded = check_depth(*encoded);
  if (!encoded->is_object() || !bounded) {
    return std::unexpected(
        Error(ErrorCode::Internal,
              "invalid output: " + (bounded ? "not a JSON object" : bounded.error().message()))
            .with_payload(CallProblem::InvalidOutput));
  }
  return encoded;
}

Result<> run_check(const std::function<Result<>()>& check) {
  Result<> fits;
  if (auto panic = catch_panic([&] { fits = check(); })) {
    const Error error(ErrorCode::ToolPanicked,
                      "the check panicked: " + plain_or_quoted(panic->value));
    fits = std::unexpected(error.with_payload(*std::move(panic)));
  }
  if (fits) {
    return fits;
  }
  const Error& error = fits.error();
  if (std::any_cast<CallProblem>(&error.payload()) != nullptr &&
      call_problem(error) == CallProblem::InvalidInput) {
    return std::unexpected(
        classified(CallProblem::InvalidInput, "invalid arguments: " + error.message(), error));
  }
  return std::unexpected(
      classified(CallProblem::ArgumentCheck, "the check of the arguments failed", error));
}

}  // namespace detail

DeclaredTool::DeclaredTool() {
  auto state = std::make_shared<State>();
  state->defect = invalid_tool("", "nothing was declared");
  state_ = std::move(state);
}

DeclaredTool::DeclaredTool(std::shared_ptr<const State> state) : state_(std::move(state)) {}

const Error* DeclaredTool::defect() const noexcept {
  return state_->defect ? &*state_->defect : nullptr;
}

const std::string& DeclaredTool::name() const noexcept {
  return state_->name;
}

ToolInfo DeclaredTool::describe() const {
  return state_->info;
}

Result<bool> DeclaredTool::available(const Context& context) const {
  if (state_->defect) {
    return std::unexpected(*state_->defect);
  }
  if (context.cancelled()) {
    return std::unexpected(cancellation_error(context));
  }
  const auto available = check_available(*state_->tool, context);
  if (!available && call_problem(available.error()) == CallProblem::Availability) {
    return std::unexpected(available.error());
  }
  return available.has_value();
}

Result<Json> DeclaredTool::call(const Context& context, std::string_view args) const {
  if (state_->defect) {
    return std::unexpected(*state_->defect);
  }
  return state_->tool->run(context, Call{.args = std::string(args)});
}

DeclaredTool DeclaredTool::with_availability(AvailabilityPolicy policy) const {
  auto state = std::make_shared<State>(*state_);
  if (!policy && !state->defect) {
    state->defect = invalid_tool(state->name, "the availability policy is empty");
    state->tool.reset();
  }
  if (state->tool) {
    state->tool =
        state->tool->with(both(state->tool->properties().availability, std::move(policy)));
  }
  return DeclaredTool(std::move(state));
}

Result<ToolPtr> DeclaredTool::tool() const {
  if (state_->defect) {
    return std::unexpected(*state_->defect);
  }
  return state_->tool;
}

}  // namespace bawn::contract
