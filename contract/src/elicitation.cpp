#include "bawn/contract/elicitation.hpp"

#include "bawn/contract/quote.hpp"

namespace bawn::contract {
namespace {

struct CurrentElicitor {
  Elicitor ask;
};

}  // namespace

std::string_view to_string(AnswerAction action) noexcept {
  switch (action) {
    case AnswerAction::Accept:
      return "accept";
    case AnswerAction::Decline:
      return "decline";
    case AnswerAction::Cancel:
      break;
  }
  return "cancel";
}

Result<AnswerAction> answer_action(std::string_view text) {
  for (const auto action : {AnswerAction::Accept, AnswerAction::Decline, AnswerAction::Cancel}) {
    if (to_string(action) == text) {
      return action;
    }
  }
  return fail(ErrorCode::InvalidArgument, "unknown action " + quote(text));
}

Context with_elicitor(const Context& context, Elicitor elicitor) {
  return context.with(CurrentElicitor{std::move(elicitor)});
}

bool has_elicitor(const Context& context) noexcept {
  const auto* const current = context.find<CurrentElicitor>();
  return current != nullptr && current->ask;
}

Result<Answer> elicit(const Context& context, const Elicitation& question) {
  if (!has_elicitor(context)) {
    return Answer{};
  }
  const Answer answer = BAWN_TRY(context.find<CurrentElicitor>()->ask(context, question));
  if (answer.content && answer.action != AnswerAction::Accept) {
    return fail(ErrorCode::InvalidArgument,
                "elicitation answer: content without the action \"accept\"");
  }
  if (answer.content && !answer.content->is_object()) {
    return fail(ErrorCode::InvalidArgument, "elicitation answer: the content is not an object");
  }
  return answer;
}

}  // namespace bawn::contract
