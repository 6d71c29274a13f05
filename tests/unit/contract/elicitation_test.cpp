#include "bawn/contract/elicitation.hpp"

#include "bawn/contract/call_context.hpp"

#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

Context answering(Result<Answer> answer) {
  return with_elicitor(
      {}, [answer](const Context&, const Elicitation&) -> Result<Answer> { return answer; });
}

TEST(Elicitation, WithoutAnElicitorTheAnswerIsCancel) {  // C-155
  EXPECT_EQ(elicit({}, {.message = "sure?"})->action, AnswerAction::Cancel);
  const Context removed = with_elicitor(answering(Answer{AnswerAction::Accept, {}}), {});
  EXPECT_FALSE(has_elicitor(removed));
  EXPECT_EQ(elicit(removed, {})->action, AnswerAction::Cancel);
}

TEST(Elicitation, TheAskingCallIsOnTheContext) {
  std::string id;
  const Context context = with_elicitor(
      with_call({}, Call{.id = "c7"}),
      [&](const Context& inner, const Elicitation& question) -> Result<Answer> {
        id = call_from(inner)->id + question.message;
        return Answer{.action = AnswerAction::Accept, .content = Json{{"confirm", true}}};
      });
  EXPECT_EQ(elicit(context, {.message = "?"})->content->dump(), R"({"confirm":true})");
  EXPECT_EQ(id, "c7?");
}

TEST(Elicitation, FailingToAskIsNotANo) {
  EXPECT_EQ(elicit(answering(fail(ErrorCode::Closed, "gone")), {}).error().message(), "gone");
  EXPECT_FALSE(elicit(answering(Answer{AnswerAction::Accept, Json::array()}), {}));
  EXPECT_FALSE(elicit(answering(Answer{AnswerAction::Decline, Json::object()}), {}));
}

TEST(Elicitation, ActionsHaveFixedNames) {
  EXPECT_EQ(answer_action("decline").value(), AnswerAction::Decline);
  EXPECT_EQ(answer_action("maybe").error().message(), "unknown action \"maybe\"");
}

}  // namespace
}  // namespace bawn::contract
