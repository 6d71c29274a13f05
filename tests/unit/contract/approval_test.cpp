#include "bawn/contract/approval.hpp"

#include "bawn/contract/make_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace bawn::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Answers by name, and who was asked.
struct People {
  std::map<std::string, Result<bool>> answers;
  std::vector<std::string> asked{};

  Result<bool> decide(ApprovalPolicy policy) {
    return make_approval(
               std::move(policy),
               [this](const Context&, const std::string& name, const AuthorizationRequest&) {
                 asked.push_back(name);
                 return answers.at(name);
               })
        .value()({}, {});
  }
};

TEST(Approval, SoManyMustAgreeAndNobodyIsAskedInVain) {  // C-110
  People people{{{"a", false}, {"b", true}, {"c", true}, {"d", true}}};
  EXPECT_TRUE(people.decide({.need = 2, .approvers = {"a", "b", "c", "d"}}).value());
  EXPECT_THAT(people.asked, ElementsAre("a", "b", "c"));
  people.asked.clear();
  EXPECT_FALSE(people.decide({.need = 3, .approvers = {"a", "b", "c"}}).value());
  EXPECT_THAT(people.asked, ElementsAre("a"));
}

TEST(Approval, WhoCannotBeAskedDidNotAgree) {  // C-111
  People people{{{"a", fail(ErrorCode::Closed, "gone")}, {"b", true}, {"c", false}}};
  EXPECT_TRUE(people.decide({.need = 1, .approvers = {"a", "b"}}).value());
  EXPECT_EQ(people.decide({.need = 1, .approvers = {"a", "c"}}).error().message(), "gone");
}

TEST(Approval, ACancelledCallAsksNobody) {  // C-111
  const CancelSource source{Context()};
  source.cancel();
  const auto approval =
      make_approval({.need = 1, .approvers = {"a"}}, [](const Context&, const std::string&,
                                                        const AuthorizationRequest&) {
        ADD_FAILURE();
        return Result<bool>(true);
      }).value();
  const auto decided = approval(source.context(), {});
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code(), ErrorCode::Cancelled);
}

TEST(Approval, PoliciesThatDecideNothingAreRefused) {
  const ApprovalQuestion yes = [](const Context&, const std::string&, const AuthorizationRequest&) {
    return Result<bool>(true);
  };
  const auto problem = [&](ApprovalPolicy policy) {
    return make_approval(std::move(policy), yes).error().message();
  };
  EXPECT_THAT(problem({.need = 0, .approvers = {"a"}}), HasSubstr("at least one"));
  EXPECT_THAT(problem({.need = 2, .approvers = {"a"}}),
              HasSubstr("the number of approvers is 1 and 2 must agree"));
  EXPECT_THAT(problem({.need = 1, .approvers = {"Ann", "aNN"}}), HasSubstr(R"("aNN" comes twice)"));
  EXPECT_THAT(problem({.need = 1, .approvers = {"ann "}}), HasSubstr("printable ASCII"));
  EXPECT_THAT(problem({.need = 1, .approvers = {""}}), HasSubstr("printable ASCII"));
  EXPECT_THAT(make_approval({.need = 1, .approvers = {"a"}}, {}).error().message(),
              HasSubstr("no function"));
}

TEST(Approval, GuardsATool) {  // C-110
  People people{{{"a", false}}};
  int ran = 0;
  const ToolPtr tool = make_raw_tool("t", "", std::nullopt, [&](const Context&, const Call&) {
                         ++ran;
                         return text_result("");
                       }).value();
  const auto ask = [&](const Context&, const std::string& name, const AuthorizationRequest& what) {
    EXPECT_EQ(what.definition.name, "t");
    return people.answers.at(name);
  };
  const ToolPtr guarded =
      guard(tool, make_approval({.need = 1, .approvers = {"a"}}, ask).value()).value();
  EXPECT_TRUE(guarded->execute({}, {}).error);
  EXPECT_EQ(ran, 0);
  people.answers.at("a") = true;
  EXPECT_FALSE(guarded->execute({}, {}).error);
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace bawn::contract
