#include "bawn/contract/outcome_class.hpp"

#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

TEST(OutcomeClass, AMarkedErrorStaysUnknownThroughWrapping) {  // C-104
  const Error lost(ErrorCode::DeadlineExceeded, "no answer");
  EXPECT_EQ(outcome_class(lost), OutcomeClass::Known);
  const Error unknown = as_unknown_outcome(lost).wrap("mcp: call \"pay\"");
  EXPECT_EQ(outcome_class(unknown), OutcomeClass::Unknown);
  EXPECT_EQ(unknown.message(), "mcp: call \"pay\": no answer");
  EXPECT_TRUE(unknown.is(ErrorCode::DeadlineExceeded));
}

TEST(OutcomeClass, OnlyAnUnknownOutcomeOfASideEffectHalts) {  // C-104
  const Error failed(ErrorCode::ToolFailed, "refused");
  const Error lost = as_unknown_outcome(failed);
  EXPECT_EQ(settle(lost, Safety::SideEffect), Settlement::Halt);
  EXPECT_EQ(settle(lost, Safety::Idempotent), Settlement::Failure);
  EXPECT_EQ(settle(lost, Safety::ReadOnly), Settlement::Failure);
  EXPECT_EQ(settle(failed, Safety::SideEffect), Settlement::Failure);
}

TEST(OutcomeClass, HintsCountOnlyFromATrustedServer) {  // C-74, C-104
  const Annotations both{.read_only = true, .idempotent = true};
  EXPECT_EQ(safety_of(both, false), Safety::SideEffect);
  EXPECT_EQ(safety_of(both, true), Safety::ReadOnly);
  EXPECT_EQ(safety_of(Annotations{.idempotent = true}, true), Safety::Idempotent);
  EXPECT_EQ(safety_of(std::nullopt, true), Safety::SideEffect);
  EXPECT_EQ(safety_of(both, true, Safety::SideEffect), Safety::SideEffect);
}

TEST(OutcomeClass, WhetherACallMayRunAgainIsTheReplaysWord) {  // C-105
  EXPECT_EQ(rerun_of(Replay::Safe), Rerun::Allowed);
  EXPECT_EQ(rerun_of(Replay::Keyed), Rerun::WithFirstKey);
  EXPECT_EQ(rerun_of(Replay::Unknown), Rerun::Forbidden);
  EXPECT_EQ(rerun_of(static_cast<Replay>(17)), Rerun::Forbidden);
  const Error error = outcome_unknown_error("pay");
  EXPECT_EQ(outcome_class(error), OutcomeClass::Unknown);
  EXPECT_NE(error.message().find("outcome of this call of tool \"pay\" is unknown"),
            std::string::npos);
}

}  // namespace
}  // namespace bawn::contract
