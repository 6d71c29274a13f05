#include "bawn/shell/escalation.hpp"

#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace bawn::shell {
namespace {

using contract::Json;

/// As much of the caller's words as a person reads before deciding.
constexpr std::size_t kShownBytes = 600;
constexpr std::size_t kShownValueBytes = 200;
constexpr std::size_t kShownVariables = 16;

std::string shown(std::string_view text, std::size_t bytes = kShownBytes) {
  const std::string_view start = contract::text_start(text, bytes);
  return contract::quote(start) +
         (start.size() < text.size() ? fmt::format(" and {} more bytes", text.size() - start.size())
                                     : std::string());
}

void add(std::string& text, std::string_view what, const std::vector<std::string>& items) {
  for (const std::string& item : items) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, contract::plain_or_quoted(item));
  }
}

/// What decides beside the command what runs.
std::string surroundings_of(const EscalationRequest& request) {
  std::string text;
  if (request.cwd) {
    text += fmt::format("In the directory: {}\n", shown(*request.cwd));
  }
  std::size_t count = 0;
  for (const auto& [name, value] : request.env) {
    if (++count > kShownVariables) {
      text += fmt::format("With {} more variables\n", request.env.size() - kShownVariables);
      break;
    }
    text += fmt::format("With the variable {}: {}\n", shown(name, kShownValueBytes),
                        shown(value, kShownValueBytes));
  }
  if (request.input) {
    text += fmt::format("With the input: {}\n", shown(*request.input));
  }
  return text;
}

std::string message_of(const EscalationRequest& request) {
  return fmt::format(
      "A call of {} asks for more than the policy {} gives, once: {}.\nIt would run: {}\n{}"
      "Its reason: {}\nAll of this but the first line is in the caller's own words.",
      request.tool, contract::plain_or_quoted(request.policy), words_of(request.widening),
      shown(request.command), surroundings_of(request), shown(request.justification));
}

Json yes_or_no(const std::string& title) {
  return {{"type", "boolean"}, {"title", title}, {"default", false}};
}

/// A form only where a plain yes would not be enough.
std::optional<Json> form_of(const sandbox::Widening& widening) {
  Json fields = Json::object();
  if (!widening.secrets.empty()) {
    fields["open_secrets"] = yes_or_no("Let it read the secrets that are named");
  }
  if (!widening.protected_names.empty()) {
    fields["open_protected"] = yes_or_no("Let it change the protected names that are named");
  }
  if (fields.empty()) {
    return std::nullopt;
  }
  Json required = Json::array();
  for (const auto& [name, field] : fields.items()) {
    required.push_back(name);
  }
  return Json{{"type", "object"}, {"properties", fields}, {"required", required}};
}

bool is_true(const std::optional<Json>& content, const char* name) {
  return content && content->contains(name) && (*content)[name] == true;
}

}  // namespace

std::string words_of(const sandbox::Widening& widening) {
  std::string text;
  add(text, "write", widening.write);
  add(text, "host", widening.hosts);
  add(text, "secret", widening.secrets);
  add(text, "protected name", widening.protected_names);
  return text;
}

contract::Result<EscalationDecision> ask_person(const contract::Context& context,
                                                const EscalationRequest& request) {
  EscalationDecision decision;
  if (!contract::has_elicitor(context)) {
    decision.by = "nobody, since this host decides nothing and its client takes no questions";
    return decision;
  }
  const contract::Answer answer = BAWN_TRY(contract::elicit(
      context, {.message = message_of(request), .schema = form_of(request.widening)}));
  decision.by = "the user";
  decision.granted = answer.action == contract::AnswerAction::Accept;
  decision.secrets = decision.granted && is_true(answer.content, "open_secrets");
  decision.protected_names = decision.granted && is_true(answer.content, "open_protected");
  return decision;
}

}  // namespace bawn::shell
