// Signals, cancels and what outlives them.
#include "cases.hpp"

#include <gmock/gmock.h>

namespace bawn::test {
namespace {

using contract::Json;
using ::testing::IsEmpty;

using SignalCase = CasesTest;

TEST_F(SignalCase, CancelIsQuickAndKeepsTheShell) {
  sh("v=kept");
  const Json ended = cancelled("echo begun; sleep 100");
  EXPECT_LT(took, kAtOnce);
  EXPECT_EQ(ended["reason"], "cancelled");
  EXPECT_EQ(ended["exit_code"], 130);
  EXPECT_EQ(sh("echo $v")["stdout"], "kept\n");
}

TEST_F(SignalCase, LoopOfBuiltinsIsInterrupted) {
  sh("v=kept");
  EXPECT_EQ(cancelled("echo begun; while :; do :; done")["exit_code"], 130);
  EXPECT_EQ(sh("echo $v")["stdout"], "kept\n");
}

TEST_F(SignalCase, ChildThatIgnoresSignalsIsKilledAndTheShellStays) {
  sh("v=kept");
  const Json ended = cancelled("sh -c 'trap \"\" INT TERM; echo begun; sleep 100; sleep 100'");
  EXPECT_EQ(ended["stopped_by"], "KILL");
  EXPECT_THAT(survivors(ended), IsEmpty());
  EXPECT_EQ(ended["shell_restarted"], false);
  EXPECT_EQ(sh("echo $v")["stdout"], "kept\n");
}

TEST_F(SignalCase, GrandchildOfAnEndedWrapperIsKnown) {
  const Json ended = exec({"sh", "-c", "sleep 600 & exit 0"});
  EXPECT_EQ(ended["exit_code"], 0);
  EXPECT_THAT(survivors(ended), ::testing::SizeIs(1));
  // Ended with the session: TearDown looks.
}

TEST_F(SignalCase, FinishedCallsAreBounded) {
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(sh("true")["exit_code"], 0);
  }
  EXPECT_EQ(result("bash_output", Json::object())["calls"].size(), 64U);
}

TEST_F(SignalCase, KillingEverythingInSightEndsNoServer) {
  const Json ended = sh("kill -9 -1; echo on");
  EXPECT_TRUE(ended["exit_code"] == 0 || ended["shell_restarted"] == true) << ended;
  EXPECT_EQ(sh("echo on")["stdout"], "on\n");
}

TEST_F(SignalCase, ShellThatKillsItselfIsReplaced) {
  const Json ended = sh("kill -9 $$");
  EXPECT_EQ(ended["signal"], 9);
  EXPECT_EQ(ended["shell_restarted"], true);
  EXPECT_EQ(sh("echo on")["stdout"], "on\n");
}

}  // namespace
}  // namespace bawn::test
