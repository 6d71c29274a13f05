#include "bawn/contract/admission.hpp"

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/canonical.hpp"
#include "bawn/contract/definition.hpp"
#include "bawn/contract/executor.hpp"
#include "bawn/contract/json_schema.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/contract/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bawn::contract {

struct Contract::State {
  Definition definition;
  JsonSchema schema;
  InputCheck check;
};

namespace {

std::unexpected<Error> invalid_tool(std::string_view name, const Error& cause) {
  return std::unexpected(cause.wrap(fmt::format("invalid tool {}", quote(name)))
                             .with_payload(AdmissionProblem::InvalidTool));
}

std::unexpected<Error> invalid_tool(std::string_view name, std::string problem) {
  return invalid_tool(name, Error(ErrorCode::InvalidArgument, std::move(problem)));
}

std::unexpected<Error> invalid_invocation(const Error& cause) {
  return std::unexpected(
      cause.wrap("invalid invocation").with_payload(AdmissionProblem::InvalidInvocation));
}

std::unexpected<Error> invalid_invocation(std::string problem) {
  return invalid_invocation(Error(ErrorCode::InvalidArgument, std::move(problem)));
}

Result<JsonSchema> compile_parameters(const Definition& definition) {
  auto schema = JsonSchema::compile_text(parameters_of(definition));
  if (!schema) {
    return schema;
  }
  if (!is_object_schema(schema->document())) {
    return fail(ErrorCode::InvalidArgument, "the parameters' schema is not of type \"object\"");
  }
  return schema;
}

// The outermost declared check; a wrapper's takes the place of the inner one's.
Result<InputCheck> capture_check(const Tool& tool) {
  const InputValidator* const validator = BAWN_TRY(capability<InputValidator>(tool));
  InputCheck check;
  if (validator != nullptr) {
    if (auto panic = catch_panic([&] { check = validator->input_check(); })) {
      panic->tool = tool.definition().name;
      return std::unexpected(make_panic_error(*std::move(panic)));
    }
  }
  return check;
}

Result<> run_check(const InputCheck& check, const std::string& name, const Json& args) {
  Result<> result;
  if (check) {
    if (auto panic = catch_panic([&] { result = check(args); })) {
      panic->tool = name;
      return std::unexpected(make_panic_error(*std::move(panic)));
    }
  }
  return result;
}

}  // namespace

bool checks_arguments(const Tool& tool) {
  const auto checking = capability<SelfChecking>(tool);
  return checking && *checking != nullptr && (*checking)->checks_arguments();
}

bool is_tool_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

Definition Contract::definition() const {
  return state_ ? state_->definition : Definition();
}

Result<Invocation> Contract::prepare(const Request& request) const {
  if (!state_) {
    return invalid_invocation("the contract is empty");
  }
  if (request.id.empty()) {
    return invalid_invocation("the call has no id");
  }
  if (request.name != state_->definition.name) {
    return invalid_invocation(fmt::format("the call names the tool {} and not {}",
                                          quote(request.name), quote(state_->definition.name)));
  }
  Invocation invocation;
  const bool blank = request.args.find_first_not_of(" \t\r\n") == std::string::npos;
  invocation.text_ = blank ? "{}" : request.args;
  auto args = parse_json(invocation.text_);
  if (!args) {
    return invalid_invocation(args.error());
  }
  if (!args->is_object()) {
    return invalid_invocation("the arguments are not a JSON object");
  }
  if (const auto fits = state_->schema.validate(*args); !fits) {
    return invalid_invocation(fits.error().wrap("invalid arguments"));
  }
  if (const auto fits = run_check(state_->check, request.name, *args); !fits) {
    return invalid_invocation(fits.error());
  }
  invocation.id_ = request.id;
  invocation.name_ = request.name;
  invocation.args_ = *std::move(args);
  invocation.contract_ = state_;
  return invocation;
}

Binding::Binding(ToolPtr tool, Contract contract)
    : tool_(std::move(tool)), contract_(std::move(contract)) {}

Result<Binding> Binding::bind(ToolPtr tool) {
  if (!tool) {
    return invalid_tool("", "there is no tool");
  }
  Definition definition = tool->definition();
  if (!is_tool_name(definition.name)) {
    return invalid_tool(definition.name, "a name has 1 to 64 of the characters A-Z a-z 0-9 _ -");
  }
  auto schema = compile_parameters(definition);
  if (!schema) {
    return invalid_tool(definition.name, schema.error());
  }
  auto canonical = canonical_json(schema->document());
  if (!canonical) {
    return invalid_tool(definition.name, canonical.error());
  }
  auto check = capture_check(*tool);
  if (!check) {
    return invalid_tool(definition.name, check.error());
  }
  definition.parameters = *std::move(canonical);
  Contract contract;
  contract.state_ = std::make_shared<const Contract::State>(
      Contract::State{std::move(definition), *std::move(schema), *std::move(check)});
  return Binding(std::move(tool), std::move(contract));
}

Outcome Binding::call(const Context& context, const Invocation& invocation) const {
  if (invocation.contract_ != contract_.state_) {
    return invalid_invocation("it was prepared by another contract").error();
  }
  if (context.cancelled()) {
    return cancellation_error(context);
  }
  const Call call{.id = invocation.id_, .args = invocation.text_};
  Outcome outcome = execute_contained(*tool_, with_call(context, call), call);
  if (outcome.error) {
    outcome.result.output = std::string();
  }
  return outcome;
}

}  // namespace bawn::contract
