#include "bawn/contract/guard.hpp"

#include "bawn/contract/admission.hpp"
#include "bawn/contract/failure.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/wrap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

class Guard : public testing::Test {
 protected:
  ToolPtr inner(std::string name = "search") {
    return make_raw_tool(std::move(name), "d", std::nullopt,
                         [this](const Context&, const Call&) {
                           ++executed;
                           return text_result("found");
                         })
        .value();
  }
  int executed = 0;
};

TEST_F(Guard, AllowsWhatTheAuthorizerAllows) {  // C-111
  std::string seen;
  const ToolPtr tool = guard(inner(), [&](const Context&, const AuthorizationRequest& request) {
                         seen = request.definition.name + dump_json(request.args);
                         return Result<bool>(true);
                       }).value();
  EXPECT_EQ(output_text(tool->execute({}, {.args = R"({"q":1})"}).result), "found");
  EXPECT_EQ(seen, R"(search{"q":1})");
}

TEST_F(Guard, ARefusalIsARejectedFailureAndRunsNothing) {  // C-111
  const ToolPtr tool = guard(inner(), [](const Context&, const AuthorizationRequest&) {
                         return Result<bool>(false);
                       }).value();
  const Outcome outcome = tool->execute({}, {});
  EXPECT_EQ(outcome.error->message(), R"(error: tool "search" is not authorized)");
  EXPECT_EQ(outcome.error->find<Failure>()->kind, FailureKind::Rejected);
  EXPECT_FALSE(outcome.error->hidden_cause());
  EXPECT_EQ(executed, 0);
}

TEST_F(Guard, AFailingPolicyHidesItsCause) {  // C-111
  const ToolPtr tool =
      guard(inner(), [](const Context&, const AuthorizationRequest&) -> Result<bool> {
        return fail(ErrorCode::Cancelled, "policy server at 10.0.0.1 timed out");
      }).value();
  const Outcome outcome = tool->execute({}, {});
  EXPECT_EQ(outcome.error->message(), R"(tool: authorization for "search" failed)");
  EXPECT_FALSE(outcome.error->is(ErrorCode::Cancelled));
  EXPECT_EQ(outcome.error->hidden_cause()->code(), ErrorCode::Cancelled);
  EXPECT_EQ(executed, 0);
}

TEST_F(Guard, ACancelledCallAsksNobody) {  // C-111
  int asked = 0;
  const ToolPtr tool = guard(inner(), [&](const Context&, const AuthorizationRequest&) {
                         ++asked;
                         return Result<bool>(true);
                       }).value();
  const CancelSource source{Context()};
  source.cancel();
  EXPECT_EQ(tool->execute(source.context(), {}).error->code(), ErrorCode::Cancelled);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(executed, 0);
}

TEST_F(Guard, CancellationWhileAskingStopsTheCall) {
  const CancelSource source{Context()};
  const ToolPtr tool = guard(inner(), [&](const Context&, const AuthorizationRequest&) {
                         source.cancel();
                         return Result<bool>(true);
                       }).value();
  EXPECT_EQ(tool->execute(source.context(), {}).error->code(), ErrorCode::Cancelled);
  EXPECT_EQ(executed, 0);
}

class Checked final : public Tool, public InputValidator {
 public:
  Checked() : Tool({.name = "checked"}, {}) {}
  Outcome execute(const Context&, const Call&) const override { return text_result("ran"); }
  InputCheck input_check() const override {
    return [](const Json&) { return Result<>(); };
  }
};

TEST_F(Guard, WhatTheInnerToolCanDoIsFoundThroughTheGuard) {  // C-112
  const ToolPtr guarded =
      guard(std::make_shared<const Checked>(), [](const Context&, const AuthorizationRequest&) {
        return Result<bool>(true);
      }).value();
  EXPECT_NE(capability<Checked>(*guarded).value(), nullptr);
  EXPECT_NE(capability<InputValidator>(*guarded).value(), nullptr);
}

TEST_F(Guard, WhatAnAuthorizerThrowsIsANoAndStaysPrivate) {  // C-111
  const ToolPtr tool =
      guard(inner(), [](const Context&, const AuthorizationRequest&) -> Result<bool> {
        throw std::runtime_error("secret rule");
      }).value();
  const Outcome outcome = tool->execute({}, {});
  EXPECT_THAT(outcome.error->message(), HasSubstr("authorization for"));
  EXPECT_EQ(outcome.error->message().find("secret"), std::string::npos);
  EXPECT_THAT(outcome.error->hidden_cause()->message(), HasSubstr("secret rule"));
  EXPECT_EQ(executed, 0);
}

TEST_F(Guard, NeedsBothParts) {  // C-110
  EXPECT_FALSE(guard(
      nullptr, [](const Context&, const AuthorizationRequest&) { return Result<bool>(true); }));
  EXPECT_FALSE(guard(inner(), {}));
}

TEST_F(Guard, AvailabilityIsAskedAtListingAndAtTheCall) {  // C-113
  bool open = false;
  const ToolPtr tool =
      with_availability(inner(), [&](const Context&) { return Result<bool>(open); }).value();
  EXPECT_FALSE(is_available(*tool, {}).value());
  EXPECT_EQ(tool->execute({}, {.args = "{broken"}).error->message(),
            R"(tool "search" is not available)");
  open = true;
  EXPECT_TRUE(is_available(*tool, {}).value());
  EXPECT_EQ(output_text(tool->execute({}, {}).result), "found");
}

TEST_F(Guard, AvailabilityConditionsAddUpAndStopAtTheFirstNo) {  // C-113
  int asked = 0;
  const auto no = [](const Context&) { return Result<bool>(false); };
  const auto counting = [&](const Context&) {
    ++asked;
    return Result<bool>(true);
  };
  const ToolPtr tool = with_availability(with_availability(inner(), no).value(), counting).value();
  EXPECT_FALSE(is_available(*tool, {}).value());
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(with_availability(inner(), {}));
}

TEST_F(Guard, AnUndecidedAvailabilityIsPrivateEvenWithAnApprovedCause) {  // C-108, C-113
  const ToolPtr tool = with_availability(inner(), [](const Context&) -> Result<bool> {
                         return std::unexpected(tool_error("approved"));
                       }).value();
  const Outcome outcome = tool->execute({}, {});
  EXPECT_FALSE(approved_failure(*outcome.error));
  EXPECT_EQ(disclosed_text(*outcome.error, ErrorDisclosure::ApprovedOnly), "the tool failed");
}

TEST(Failure, ApprovedTextIsFoundBehindPrivateContext) {  // C-106
  const Error wrapped = tool_error("document is not available").wrap("db host 10.0.0.1");
  EXPECT_EQ(approved_failure(wrapped)->message, "document is not available");
  EXPECT_EQ(disclosed_text(wrapped, ErrorDisclosure::ApprovedOnly), "document is not available");
  EXPECT_EQ(disclosed_text(wrapped, ErrorDisclosure::Full),
            "db host 10.0.0.1: document is not available");
  EXPECT_EQ(approved_failure(tool_error(""))->message, "");
  EXPECT_FALSE(approved_failure(Error(ErrorCode::ToolFailed, "unmarked")));
}

TEST(Failure, ABadlyDeclaredFailureIsNotApproved) {  // C-107
  const Error good = tool_failure("unavailable", "capture is disabled", Json{{"retry", false}});
  EXPECT_EQ(approved_failure(good)->code, "unavailable");
  EXPECT_EQ(good.message(), "capture is disabled");
  EXPECT_EQ(dump_json(*approved_failure(good)->details), R"({"retry":false})");
  EXPECT_FALSE(approved_failure(tool_failure("", "m")));
  EXPECT_FALSE(approved_failure(tool_failure("c", "m", Json::array())));
}

TEST(Failure, KeepsItsCauseOutOfMatching) {  // C-102
  const Error cause(ErrorCode::Busy, "internal diagnostic");
  const auto failure = make_failure(FailureKind::Rejected, text_result("not permitted"), cause);
  EXPECT_EQ(failure->message(), "not permitted");
  EXPECT_FALSE(failure->is(ErrorCode::Busy));
  EXPECT_EQ(failure->hidden_cause()->message(), "internal diagnostic");
  EXPECT_EQ(make_failure(FailureKind::Rejected, {})->message(), "tool: rejected");
  EXPECT_FALSE(make_failure(FailureKind::Failed, text_result("x")));
}

TEST(Failure, EvidenceStaysBesideItsVisibleCause) {  // C-103
  const Error error = with_evidence(Error(ErrorCode::Busy, "later"), text_result("half"));
  EXPECT_TRUE(error.is(ErrorCode::Busy));
  EXPECT_EQ(output_text(error.find<Evidence>()->output), "half");
}

}  // namespace
}  // namespace bawn::contract
