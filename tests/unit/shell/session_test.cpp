// What a session keeps and answers: the behaviour of a person's own terminal, without a terminal.
#include "session_fixture.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace bawn::test {
namespace {

using shell::Reason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SessionTest, KeepsDirectoryVariablesFunctionsArraysAndAliases) {
  sh("cd /usr; export A=1; B=2; f() { echo fn; }; declare -A M=([k]=v); alias ll='echo AL'");
  EXPECT_EQ(sh("pwd; echo $A $B ${M[k]}; f; ll").out.text, "/usr\n1 2 v\nfn\nAL\n");
}

TEST_F(SessionTest, StatusOfThePreviousCallIsSeenByTheNext) {
  EXPECT_EQ(sh("(exit 9)").exit_code, 9);
  EXPECT_EQ(sh("echo $?").out.text, "9\n");
}

TEST_F(SessionTest, GivesTheStatusOfEveryPartOfAPipeline) {
  const auto result = sh("false | true | (exit 3)");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.pipe_statuses, ElementsAre(1, 0, 3));
  EXPECT_EQ(sh("! true").exit_code, 1);
}

TEST_F(SessionTest, KeepsOutputAndErrorsApart) {
  const auto result = sh("echo out; echo err >&2; (exit 7)");
  EXPECT_EQ(result.out.text, "out\n");
  EXPECT_EQ(result.err.text, "err\n");
  EXPECT_EQ(result.exit_code, 7);
}

TEST_F(SessionTest, TakesATextByteForByte) {
  EXPECT_EQ(sh("cat <<'EOF'\nit's \"q\" $x `b` \\\nEOF").out.text, "it's \"q\" $x `b` \\\n");
  EXPECT_EQ(sh("echo a \\").out.text, "a\n");
  EXPECT_EQ(sh("echo a # comment").out.text, "a\n");
}

TEST_F(SessionTest, TakesALongHereDocument) {
  std::string lines;
  for (int i = 0; i < 5000; ++i) {
    lines += "line " + std::to_string(i) + " 'quoted' \"$x\" `tick`\n";
  }
  EXPECT_EQ(sh("cat > long <<'EOF'\n" + lines + "EOF").exit_code, 0);
  EXPECT_EQ(read_file(workspace_.path() / "long"), lines);
}

TEST_F(SessionTest, RefusesTextThatDoesNotParseBeforeAnythingRuns) {
  const auto open = sh("touch ran; echo \"abc");
  EXPECT_EQ(open.reason, Reason::SyntaxError);
  EXPECT_THAT(open.message, HasSubstr("line 1"));
  const auto here = sh("touch ran; cat <<EOF\nhi");
  EXPECT_EQ(here.reason, Reason::IncompleteInput);
  EXPECT_EQ(sh("if true; then").reason, Reason::SyntaxError);
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "ran"));
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(SessionTest, RefusesANulByteInTheText) {
  shell::BashRequest request;
  request.command = std::string("echo a\0b", 8);
  const auto result = session_->run(contract::Context(), std::move(request));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), contract::ErrorCode::InvalidArgument);
}

TEST_F(SessionTest, SurvivesErrorsThatEndAScript) {
  EXPECT_EQ(sh("echo $((1/0)); echo after").exit_code, 1);
  EXPECT_THAT(sh("echo ${nope:?bad}").err.text, HasSubstr("nope: bad"));
  EXPECT_EQ(sh("set -u; echo $nope").exit_code, 1);
  EXPECT_EQ(sh("readonly R=1; R=2").exit_code, 1);
  EXPECT_EQ(sh("break; echo a").out.text, "a\n");
  EXPECT_EQ(sh("return 5; echo no").exit_code, 5);
  const auto last = sh("echo alive");
  EXPECT_EQ(last.out.text, "alive\n");
  EXPECT_FALSE(last.shell_restarted);
}

TEST_F(SessionTest, TakesBackOptionsThatWouldPoisonLaterCalls) {
  const auto set = sh("set -euo pipefail; set -x");
  EXPECT_THAT(set.options_reset, ElementsAre("errexit", "nounset", "xtrace", "pipefail"));
  EXPECT_EQ(sh("false; echo \"[$nope]\"").out.text, "[]\n");
  EXPECT_THAT(sh("echo").options_reset, IsEmpty());
}

TEST_F(SessionTest, StandardInputIsEmptyUnlessGiven) {
  EXPECT_EQ(sh("read x; echo \"[$x]$?\"; cat; cat /dev/stdin; echo eof").out.text, "[]1\neof\n");
  EXPECT_EQ(sh("seq 2 | cat /dev/stdin").out.text, "1\n2\n");
  shell::BashRequest request;
  request.command = "sort; echo end";
  request.input = "b\na\n";
  EXPECT_EQ(run(std::move(request)).out.text, "a\nb\nend\n");
  EXPECT_EQ(sh("cat").out.text, "");
}

TEST_F(SessionTest, RedirectionsOfTheShellItselfDoNotOutliveTheCall) {
  EXPECT_EQ(sh("exec 2>/dev/null; echo x >&2; echo ok").out.text, "ok\n");
  EXPECT_EQ(sh("echo err again >&2").err.text, "err again\n");
}

TEST_F(SessionTest, ReturnsWhileABackgroundJobHoldsTheOutput) {
  const auto result = sh("sleep 600 & echo hi");
  EXPECT_EQ(result.out.text, "hi\n");
  ASSERT_EQ(result.survivors.size(), 1U);
  EXPECT_GT(result.survivors.front().pid, 1);
  EXPECT_EQ(sh("kill %1; wait; echo gone").exit_code, 0);
}

TEST_F(SessionTest, LateOutputStaysWithItsCall) {
  const auto first = sh("mkfifo go; (read x < go; echo late; echo done > done) & echo now");
  EXPECT_EQ(first.out.text, "now\n");
  EXPECT_EQ(sh("echo > go; wait; cat done").out.text, "done\n");
  shell::OutputRequest request;
  request.call = first.call;
  request.out_from = 0;
  // The keeper reads the FIFO on its own thread: wait for the bytes, not for a time.
  shell::CallResult again;
  do {
    again = *session_->output(contract::Context(), request);
  } while (again.out.bytes < 9);
  EXPECT_EQ(again.out.text, "now\nlate\n");
}

TEST_F(SessionTest, DeletedDirectoryIsSaidAndCanBeLeft) {
  const auto gone = sh("mkdir d && cd d && rm -rf ../d; pwd");
  EXPECT_EQ(gone.exit_code, 0);
  EXPECT_TRUE(gone.cwd_missing);
  EXPECT_EQ(sh("cd / && pwd").out.text, "/\n");
}

TEST_F(SessionTest, StoppedJobsGiveControlBack) {
  const auto result = sh("sh -c 'kill -STOP $$'; echo after");
  EXPECT_EQ(result.out.text, "after\n");
  ASSERT_EQ(result.stopped_jobs.size(), 1U);
  EXPECT_EQ(result.stopped_jobs.front().state, 'T');
  sh("kill -KILL %%");
}

TEST_F(SessionTest, OverriddenBuiltinsAndTrapsDoNotDisturbReports) {
  sh("cd() { echo no; }; printf() { :; }; jobs() { :; }; return() { :; }; trap 'echo D' DEBUG; "
     "alias echo=false");
  EXPECT_EQ(sh("pwd").out.text.find(workspace_.path().filename().string()) != std::string::npos,
            true);
  EXPECT_EQ(sh("true").exit_code, 0);
}

TEST_F(SessionTest, AMissingPromptCommandIsNoticed) {
  EXPECT_EQ(sh("PROMPT_COMMAND=true; unset PROMPT_COMMAND; (exit 4)").exit_code, 4);
  const auto aborted = sh("PROMPT_COMMAND=; echo ${nope:?x}; echo no");
  EXPECT_EQ(aborted.exit_code, 1);
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(SessionTest, AShellThatCannotReportIsReplaced) {
  sh("V=kept");
  ASSERT_TRUE(session_->restart(contract::Context(), true));
  const auto blind = sh("shopt -s extdebug; trap false DEBUG");
  EXPECT_EQ(blind.reason, Reason::ShellLost);
  EXPECT_TRUE(blind.shell_restarted);
  EXPECT_EQ(sh("echo $V").out.text, "kept\n");
}

TEST_F(SessionTest, AShellWithoutDescriptorsIsReplaced) {
  sh("V=kept");
  ASSERT_TRUE(session_->restart(contract::Context(), true));
  EXPECT_TRUE(sh("ulimit -n 0").shell_restarted);
  EXPECT_EQ(sh("echo $V").out.text, "kept\n");
}

TEST_F(SessionTest, ManyBytesAreCountedExactly) {
  const auto result = sh("head -c 20000000 /dev/zero | tr '\\0' x; echo; seq 1000");
  EXPECT_EQ(result.out.bytes, 20000001U + 3893U);
  EXPECT_EQ(result.out.lines, 1001U);
  EXPECT_GT(result.out.missing_bytes, 0U);
  EXPECT_THAT(result.out.text, HasSubstr("999\n1000\n"));
}

TEST_F(SessionTest, OneCallAtATimeNamesTheRunningOne) {
  shell::BashRequest slow;
  slow.command = "sleep 600";
  slow.yield = std::chrono::milliseconds(0);
  const auto running = run(std::move(slow));
  EXPECT_EQ(running.state, shell::CallState::Running);
  shell::BashRequest second;
  second.command = "echo";
  const auto refused = session_->run(contract::Context(), std::move(second));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::Busy);
  EXPECT_THAT(refused.error().message(), HasSubstr(running.call));
  EXPECT_EQ(exec({"echo", "beside"}).out.text, "beside\n");
  ASSERT_TRUE(session_->stop(running.call));
  shell::OutputRequest wait;
  wait.call = running.call;
  EXPECT_EQ(session_->output(contract::Context(), wait)->reason, Reason::Cancelled);
  EXPECT_EQ(sh("echo free").out.text, "free\n");
}

TEST_F(SessionTest, ARunningCallIsFollowedToItsEnd) {
  shell::BashRequest request;
  request.command = "mkfifo gate; echo one; read x < gate; echo two";
  request.yield = std::chrono::milliseconds(0);
  const auto running = run(std::move(request));
  EXPECT_EQ(exec({"sh", "-c", "until test -p gate; do :; done; echo > gate"}).exit_code, 0);
  shell::OutputRequest follow;
  follow.call = running.call;
  follow.out_from = 0;
  const auto finished = session_->output(contract::Context(), follow);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out.text, "one\ntwo\n");
  EXPECT_EQ(finished->exit_code, 0);
}

}  // namespace
}  // namespace bawn::test
