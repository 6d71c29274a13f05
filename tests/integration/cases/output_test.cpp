// Output that is lost, wrong or mixed.
#include "cases.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>

namespace bawn::test {
namespace {

using contract::Json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using OutputCase = CasesTest;

TEST_F(OutputCase, TimeoutKeepsWhatWasPrinted) {
  const Json ended = sh("echo before; sleep 60", {{"timeout_ms", 300}});
  EXPECT_EQ(ended["stdout"], "before\n");
  EXPECT_EQ(ended["reason"], "timeout");
}

TEST_F(OutputCase, BackgroundTaskIsReadAfterItsEnd) {
  const Json begun = sh("sleep 0.3; echo done", {{"background", true}});
  EXPECT_EQ(begun["state"], "running");
  const Json ended = to_end(begun);
  EXPECT_EQ(ended["stdout"], "done\n");
  EXPECT_EQ(ended["exit_code"], 0);
}

TEST_F(OutputCase, BackgroundTaskThatIsTimedOutNeverSucceeds) {
  const Json ended = to_end(sh("sleep 60", {{"background", true}, {"timeout_ms", 300}}));
  EXPECT_EQ(ended["reason"], "timeout");
  EXPECT_NE(ended["exit_code"], 0);
}

TEST_F(OutputCase, TimeoutBecomesBackgroundOnlyWhenAskedFor) {
  EXPECT_EQ(sh("sleep 60", {{"timeout_ms", 200}})["state"], "finished");
  const Json kept = sh("sleep 60", {{"timeout_ms", 200}, {"on_timeout", "background"}});
  EXPECT_EQ(kept["state"], "running");
  EXPECT_THAT(kept["notes"].dump(), HasSubstr("200 ms passed"));
  EXPECT_EQ(result("bash_kill", {{"call", kept["call"]}})["reason"], "cancelled");
}

TEST_F(OutputCase, ProgramThatFailsAtOnceKeepsItsErrors) {
  const Json ended = exec({"sh", "-c", "echo boom >&2; exit 1"});
  EXPECT_EQ(ended["stderr"], "boom\n");
  EXPECT_EQ(ended["exit_code"], 1);
  EXPECT_EQ(to_end(result("bash_output", {{"call", ended["call"]}, {"stderr_from", 0}}))["stderr"],
            "boom\n");
}

TEST_F(OutputCase, CodePointsAreNotCut) {
  BAWN_REQUIRE("python3");
  const Json ended = exec({"python3", "-c", "print('\xE4\xBD\xA0'*20000)"},
                          {{"max_output_bytes", 102400}, {"env", {{"PYTHONUTF8", "1"}}}});
  EXPECT_EQ(ended["stdout_counts"]["invalid_bytes"], 0);
  EXPECT_EQ(ended["stdout"].get<std::string>().size(), 60001U);
}

TEST_F(OutputCase, EndlessOutputIsCountedAndCut) {
  const Json ended = exec({"yes", "0123456789"}, {{"timeout_ms", 1000}});
  EXPECT_EQ(ended["reason"], "timeout");
  const Json& counts = ended["stdout_counts"];
  EXPECT_GT(counts["bytes"].get<std::uint64_t>(), 1'000'000U);
  EXPECT_LT(ended["stdout"].get<std::string>().size(), 40'000U);
  EXPECT_GT(counts["missing_bytes"].get<std::uint64_t>(), 0U);
}

TEST_F(OutputCase, HeadAndTailAndTheWayToTheRest) {
  const Json ended = exec({"sh", "-c", "seq 1 200000; echo FATAL >&2; exit 2"});
  EXPECT_EQ(ended["exit_code"], 2);
  EXPECT_EQ(ended["stderr"], "FATAL\n");
  const auto text = ended["stdout"].get<std::string>();
  EXPECT_THAT(text, StartsWith("1\n2\n"));
  EXPECT_TRUE(text.ends_with("\n199999\n200000\n"));
  EXPECT_EQ(ended["stdout_counts"]["lines"], 200000);
  const Json part = result(
      "bash_output", {{"call", ended["call"]}, {"stdout_line", 100000}, {"max_output_bytes", 256}});
  EXPECT_THAT(part["stdout"].get<std::string>(), StartsWith("100000\n"));
  EXPECT_EQ(
      result("bash_output",
             {{"call", ended["call"]}, {"stdout_from", 0}, {"filter", "^1234(56)?$"}})["stdout"],
      "1234:1234\n123456:123456\n");
}

TEST_F(OutputCase, FailedPartOfAPipelineShows) {
  const Json ended = sh("(exit 3) | tail -1");
  EXPECT_EQ(ended["exit_code"], 0);
  EXPECT_EQ(ended["pipe_statuses"], Json::array({3, 0}));
}

TEST_F(OutputCase, StreamsComeApartWithTheirOrder) {
  const Json ended = exec({"sh", "-c", "echo 1; sleep 0.2; echo 2 >&2; sleep 0.2; echo 3"});
  EXPECT_EQ(ended["stdout"], "1\n3\n");
  EXPECT_EQ(ended["stderr"], "2\n");
  EXPECT_EQ(ended["segments"], Json::array({{{"stream", "stdout"}, {"bytes", 2}},
                                            {{"stream", "stderr"}, {"bytes", 2}},
                                            {{"stream", "stdout"}, {"bytes", 2}}}));
}

TEST_F(OutputCase, LongLinesAndTrailingBlanksStay) {
  EXPECT_EQ(sh("printf '%1000s|   \\n' x")["stdout"].get<std::string>().size(), 1005U);
}

TEST_F(OutputCase, ProgressBarsAreFoldedAndKept) {
  const Json ended = sh("for i in $(seq 1 5000); do printf '\\r%d' $i; done");
  EXPECT_EQ(ended["stdout"], "5000");
  EXPECT_EQ(ended["stdout_counts"]["folded"], true);
  EXPECT_EQ(ended["stdout_counts"]["bytes"], 23893);
}

TEST_F(OutputCase, TerminalSequencesAreFoldedAndKept) {
  const Json ended = sh("printf '\\033[31mred\\033[0m\\n'");
  EXPECT_EQ(ended["stdout"], "red\n");
  EXPECT_EQ(result("bash_output",
                   {{"call", ended["call"]}, {"stdout_from", 0}, {"encoding", "base64"}})["stdout"],
            "G1szMW1yZWQbWzBtCg==");
}

TEST_F(OutputCase, SentinelsOfOtherToolsAreText) {
  EXPECT_EQ(
      sh("echo '###PS1JSON###'; echo SHELLPS1PREFIX; echo UNIQUESTRING29234; echo end")["stdout"],
      "###PS1JSON###\nSHELLPS1PREFIX\nUNIQUESTRING29234\nend\n");
}

}  // namespace
}  // namespace bawn::test
