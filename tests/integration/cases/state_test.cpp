// The shell's life and state.
#include "cases.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace bawn::test {
namespace {

using contract::Json;
using ::testing::HasSubstr;

using StateCase = CasesTest;

TEST_F(StateCase, ErrexitDoesNotCrossCalls) {
  EXPECT_EQ(sh("set -e")["options_reset"], Json::array({"errexit"}));
  EXPECT_EQ(sh("false")["exit_code"], 1);
  EXPECT_EQ(sh("echo alive")["stdout"], "alive\n");
}

TEST_F(StateCase, FailingErrexitKeepsStateInANewShell) {
  const Json ended = sh("export A=1; cd /usr; set -euo pipefail; false; echo no");
  EXPECT_EQ(ended["exit_code"], 1);
  EXPECT_EQ(ended["shell_restarted"], true);
  EXPECT_EQ(ended["stdout"], "");
  EXPECT_EQ(sh("echo $A; pwd")["stdout"], "1\n/usr\n");
}

TEST_F(StateCase, ExitIsAnsweredAndFunctionsStay) {
  const Json ended = sh("f(){ echo hi; }; exit 42");
  EXPECT_EQ(ended["exit_code"], 42);
  EXPECT_EQ(ended["shell_restarted"], true);
  EXPECT_EQ(ended["restored"], "restored");
  EXPECT_EQ(sh("f")["stdout"], "hi\n");
}

TEST_F(StateCase, DeletedDirectoryIsSaidAndLeft) {
  EXPECT_EQ(sh("mkdir d; cd d; rm -rf ../d")["cwd_missing"], true);
  EXPECT_EQ(sh("cd / && pwd")["stdout"], "/\n");
}

TEST_F(StateCase, DirectoryOutsideTheWorkspaceStays) {
  sh("cd /usr");
  EXPECT_EQ(sh("pwd")["stdout"], "/usr\n");
}

TEST_F(StateCase, TextIsByteExact) {
  EXPECT_EQ(sh("cat <<'EOF'\nit's \"q\" $x `tick` \\\nEOF")["stdout"], "it's \"q\" $x `tick` \\\n");
  EXPECT_EQ(
      sh("echo x > $TMPDIR/f && cat $TMPDIR/f || (cd $(mktemp -d) && pwd >/dev/null && echo x)")
          ["stdout"],
      "x\n");
}

TEST_F(StateCase, UnfinishedTextsRunNothing) {
  const Json here = sh("touch made; cat <<EOF\nhi");
  EXPECT_EQ(here["reason"], "incomplete_input");
  const Json quote = sh("touch made; echo \"abc");
  EXPECT_EQ(quote["reason"], "syntax_error");
  EXPECT_THAT(quote["message"].get<std::string>(), HasSubstr("line 1"));
  EXPECT_FALSE(std::filesystem::exists(workspace() / "made"));
}

TEST_F(StateCase, ExpansionErrorsLeaveTheShellAlive) {
  const Json failed = sh("echo ${nope:?bad}");
  EXPECT_EQ(failed["exit_code"], 1);
  EXPECT_THAT(failed["stderr"].get<std::string>(), HasSubstr("bad"));
  EXPECT_EQ(failed["shell_restarted"], false);
  EXPECT_EQ(sh("echo $((1/0))")["shell_restarted"], false);
  EXPECT_EQ(sh("set -u; echo $nope")["shell_restarted"], false);
  EXPECT_EQ(sh("readonly R=1; R=2")["shell_restarted"], false);
}

TEST_F(StateCase, JumpsOutOfNothing) {
  EXPECT_EQ(sh("break; continue; echo a")["stdout"], "a\n");
  EXPECT_EQ(sh("return 5")["exit_code"], 5);
}

TEST_F(StateCase, RedefinedNamesDoNotDisturbTheReport) {
  sh("cd(){ echo no; }; printf(){ echo no; }; trap 'echo D' DEBUG; alias echo=false; "
     "PROMPT_COMMAND=:; IFS=abc");
  const Json ended = sh("trap - DEBUG; pwd; (exit 3)");
  EXPECT_EQ(ended["exit_code"], 3);
  EXPECT_EQ(ended["cwd"], workspace().string());
  sh("unalias echo");
}

TEST_F(StateCase, NothingWaitsForInputThatNobodyGives) {
  EXPECT_EQ(sh("read x; echo \"[$x]\"")["stdout"], "[]\n");
  EXPECT_LT(took, kAtOnce);
}

TEST_F(StateCase, InputIsWrittenWithoutATerminal) {
  const Json begun = exec({"sort"}, {{"stdin", "pipe"}, {"yield_ms", 0}});
  result("bash_input", {{"call", begun["call"]}, {"text", "b\na\n"}, {"yield_ms", 0}});
  result("bash_input", {{"call", begun["call"]}, {"eof", true}, {"yield_ms", 0}});
  EXPECT_EQ(to_end(begun)["stdout"], "a\nb\n");
}

TEST_F(StateCase, InteractiveShellInsideStopsNobody) {
  EXPECT_EQ(sh("bash -ic 'sleep 0.1'; echo on")["stdout"], "on\n");
}

TEST_F(StateCase, SessionIsClosedAndBeginsAnew) {
  sh("v=1");
  EXPECT_EQ(result("bash_restart", {{"close", true}})["state"], "closed");
  EXPECT_EQ(sh("echo \"[$v]\"")["stdout"], "[]\n");
}

TEST_F(StateCase, RestartLeavesCallsBesideTheShellAlone) {
  sh("v=1; sleep 600 &");
  const Json beside = exec({"cat"}, {{"stdin", "pipe"}, {"yield_ms", 0}});
  EXPECT_EQ(result("bash_restart", {{"keep_state", true}})["state"], "from_last_snapshot");
  EXPECT_EQ(sh("echo $v; jobs")["stdout"], "1\n");
  result("bash_input",
         {{"call", beside["call"]}, {"text", "on\n"}, {"eof", true}, {"yield_ms", 0}});
  EXPECT_EQ(to_end(beside)["stdout"], "on\n");
}

}  // namespace
}  // namespace bawn::test
