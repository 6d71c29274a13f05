#include "tool_escalation.hpp"

#include "bawn/contract/encode.hpp"
#include "bawn/sandbox/plan.hpp"
#include "bawn/shell/escalation.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::shell {
namespace {

constexpr std::size_t kMaxJustification = 2000;

std::unexpected<Error> bad(std::string_view sentence) {
  return contract::fail(ErrorCode::InvalidArgument, fmt::format("invalid arguments: {}", sentence));
}

Result<EscalationRequest> read_request(const ToolSupport& support, const CallArguments& args,
                                       const EscalatedCall& call) {
  const RequestArguments& wanted = *args.request;
  if (wanted.justification.find_first_not_of(" \t\r\n") == std::string::npos ||
      wanted.justification.size() > kMaxJustification) {
    return bad(
        fmt::format("request.justification must say why, in at most {} bytes", kMaxJustification));
  }
  const SessionConfig& config = support.pool().config();
  const sandbox::Place place = BAWN_TRY(
      sandbox::survey(config.policy, config.workspace, {}, sandbox::SurveyScope::MountsOnly));
  auto widening = sandbox::widen(
      config.policy, place, {.write = wanted.write, .read = wanted.read, .hosts = wanted.hosts});
  if (!widening) {
    return bad(fmt::format("request: {}", widening.error().message()));
  }
  return EscalationRequest{.tool = call.tool,
                           .session = args.session.value_or(support.options().default_session),
                           .command = call.command,
                           .cwd = args.cwd,
                           .env = args.env,
                           .input = args.input,
                           .justification = wanted.justification,
                           .policy = config.policy.name,
                           .widening = *std::move(widening)};
}

/// Empty when everything that was asked for is granted.
std::string why_declined(const sandbox::Widening& widening, const EscalationDecision& decision) {
  if (!decision.granted) {
    return fmt::format("the request ({}) was declined by {}", words_of(widening), decision.by);
  }
  if (!widening.secrets.empty() && !decision.secrets) {
    return fmt::format(
        "the request ({}) needs a word of its own for secrets, which {} did not give",
        words_of(widening), decision.by);
  }
  if (!widening.protected_names.empty() && !decision.protected_names) {
    return fmt::format(
        "the request ({}) needs a word of its own for protected names, which {} did not give",
        words_of(widening), decision.by);
  }
  return {};
}

contract::Outcome declined(const ToolSupport& support, const contract::Context& context,
                           const CallArguments& args, const std::string& why) {
  CallResult result;
  result.session = args.session.value_or(support.options().default_session);
  result.reason = Reason::Denied;
  result.message = why + "; nothing ran";
  contract::ToolResult made = contract::text_result(to_text(result, {}, {}));
  auto structured = contract::encode(to_entry(result, {}));
  if (!structured) {
    return structured.error();
  }
  made.structured = *std::move(structured);
  const auto key = support.key(context, args.session);
  made.confinement = support.pool().confinement(key ? *key : std::string());
  return made;
}

/// Ends the call's session whatever happens.
class OneShot {
 public:
  explicit OneShot(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  OneShot(const OneShot&) = delete;
  OneShot& operator=(const OneShot&) = delete;
  ~OneShot() { session_->close(); }
  Session& operator*() const { return *session_; }

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace

Result<> check_escalated(const CallArguments& args) {
  if (args.background || args.tty || args.policy || args.on_timeout != "kill" ||
      args.input == kOpenInput) {
    return bad(
        "a call with a request runs to its end in a wall of its own: background, tty, policy, "
        "on_timeout \"background\" and stdin \"pipe\" do not go with it");
  }
  return {};
}

contract::Outcome run_escalated(const ToolSupport& support, const contract::Context& context,
                                const CallArguments& args, const EscalatedCall& call) {
  if (const auto key = support.key(context, args.session); !key) {
    return key.error();
  }
  const auto request = read_request(support, args, call);
  if (!request) {
    return request.error();
  }
  const auto& escalator = support.options().escalator;
  const auto decision = escalator ? escalator(context, *request) : ask_person(context, *request);
  if (!decision) {
    return decision.error().wrap("the request could not be decided, so nothing ran");
  }
  if (const std::string why = why_declined(request->widening, *decision); !why.empty()) {
    return declined(support, context, args, why);
  }
  auto session = support.pool().start_apart(request->widening.policy);
  if (!session) {
    return session.error().wrap("the request was granted, but nothing ran");
  }
  const OneShot own(*std::move(session));
  auto result = call.run(*own);
  if (!result) {
    return refusal(result.error());
  }
  const std::string granted =
      fmt::format("Granted for this call by {}: {}.", decision->by, words_of(request->widening));
  result->notes.push_back(granted +
                          " It ran in a fresh shell and a wall of its own, which are gone: "
                          "bash_output does not know it.");
  contract::Outcome outcome = support.outcome(*own, args.session, *std::move(result));
  if (outcome.result.confinement) {
    outcome.result.confinement->notes.push_back(granted);
  }
  return outcome;
}

}  // namespace bawn::shell
