#include "bawn/contract/guard.hpp"

#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/executor.hpp"
#include "bawn/contract/failure.hpp"
#include "bawn/contract/json_node.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/contract/wrap.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::contract {
namespace {

Error not_authorized(std::string_view name) {
  auto failure =
      make_failure(FailureKind::Rejected,
                   text_result(fmt::format("error: tool {} is not authorized", quote(name))));
  return failure ? *failure : failure.error();
}

Error policy_failed(std::string_view name, Error cause) {
  return Error(ErrorCode::PermissionDenied,
               fmt::format("tool: authorization for {} failed", quote(name)))
      .with_hidden_cause(std::move(cause));
}

// What a policy throws is as private as its error.
Result<bool> ask(const Authorizer& authorizer, const Context& context,
                 const AuthorizationRequest& request) {
  Result<bool> allowed = false;
  if (const auto panic = catch_panic([&] { allowed = authorizer(context, request); })) {
    return fail(ErrorCode::Internal, "the authorizer panicked: " + plain_or_quoted(panic->value));
  }
  return allowed;
}

Outcome run_guarded(const Authorizer& authorizer, const Definition& definition,
                    const Context& context, const Call& call, const Tool& inner) {
  const auto args = parse_arguments(call.args);
  if (!args) {
    return args.error();
  }
  if (args->kind != JsonNode::Kind::Object) {
    return violation("invalid arguments: expected a JSON object");
  }
  if (context.cancelled()) {
    return cancellation_error(context);
  }
  const auto allowed = ask(authorizer, context,
                           AuthorizationRequest{.definition = definition, .args = to_json(*args)});
  if (context.cancelled()) {
    return cancellation_error(context);
  }
  if (!allowed) {
    return policy_failed(definition.name, allowed.error());
  }
  return *allowed ? inner.execute(context, call) : Outcome(not_authorized(definition.name));
}

/// A tool whose properties differ from the wrapped one's in their availability.
class ConditionalTool final : public Tool {
 public:
  ConditionalTool(ToolPtr inner, Properties properties)
      : Tool(inner->definition(), std::move(properties)), inner_(std::move(inner)) {}

  Outcome execute(const Context& context, const Call& call) const override {
    if (context.cancelled()) {
      return cancellation_error(context);
    }
    if (const auto available = check_available(*this, context); !available) {
      return available.error();
    }
    return inner_->execute(context, call);
  }
  const Tool* unwrap() const noexcept override { return inner_.get(); }

 private:
  ToolPtr inner_;
};

}  // namespace

Result<ToolPtr> guard(ToolPtr inner, Authorizer authorizer) {
  if (!inner) {
    return fail(ErrorCode::InvalidArgument, "guard: no tool to guard");
  }
  if (!authorizer) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("guard({}): no authorizer", quote(inner->definition().name)));
  }
  const Definition definition = inner->definition();
  return wrap(std::move(inner), [authorizer = std::move(authorizer), definition](
                                    const Context& context, const Call& call, const Tool& tool) {
    return run_guarded(authorizer, definition, context, call, tool);
  });
}

Result<ToolPtr> with_availability(ToolPtr tool, AvailabilityPolicy policy) {
  if (!tool) {
    return fail(ErrorCode::InvalidArgument, "with_availability: no tool");
  }
  if (!policy) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("with_availability({}): no policy", quote(tool->definition().name)));
  }
  Properties properties = tool->properties();
  properties.availability = [before = std::move(properties.availability),
                             policy = std::move(policy)](const Context& context) -> Result<bool> {
    if (before && !BAWN_TRY(before(context))) {
      return false;
    }
    return policy(context);
  };
  return std::make_shared<const ConditionalTool>(std::move(tool), std::move(properties));
}

Result<> check_available(const Tool& tool, const Context& context) {
  const auto available = is_available(tool, context);
  if (available && *available) {
    return {};
  }
  const std::string name = quote(tool.definition().name);
  if (!available) {
    const Error error(ErrorCode::Internal,
                      fmt::format("availability of tool {} could not be decided", name));
    return std::unexpected(
        error.with_hidden_cause(available.error()).with_payload(CallProblem::Availability));
  }
  return std::unexpected(
      Error(ErrorCode::PermissionDenied, fmt::format("tool {} is not available", name))
          .with_payload(CallProblem::Unavailable));
}

}  // namespace bawn::contract
