/// \file
/// What the exit status of `bawn call` says.
#include "bawn_program.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bawn::test {
namespace {

using testing::HasSubstr;

class CallStatus : public testing::Test {
 protected:
  ProgramResult call(std::vector<std::string> words) {
    words.insert(words.begin(), {BAWN_PROGRAM, "call"});
    return run_program({.argv = std::move(words),
                        .input = {},
                        .directory = workspace_.path().string(),
                        .env = {},
                        .uid = 0});
  }
  /// `script` in the workspace; `$0` is the program.
  ProgramResult run_shell(const std::string& script) { return run_script(workspace_, script); }
  /// What `trap`s of ours would hide: the call's command itself sends the signal, once it runs.
  ProgramResult signalled(const std::string& signal) {
    return run_shell(
        "mkfifo up; \"$0\" call bash 'echo begun; echo >up; sleep 600' & p=$!; "
        "read line <up; kill -" +
        signal + " $p; wait $p");
  }

 private:
  TempDir workspace_;
};

TEST_F(CallStatus, ASignalEndsTheCallAndIsTheStatus) {  // C-156, C-221
  for (const auto& [signal, status] :
       {std::pair("TERM", 143), std::pair("HUP", 129), std::pair("QUIT", 131)}) {
    const auto ended = signalled(signal);
    EXPECT_EQ(ended.exit_code, status) << signal << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("cancelled"));
    EXPECT_THAT(ended.out, HasSubstr("begun"));
  }
}

TEST_F(CallStatus, ASignalDoesNotHideThatTheAnswerCouldNotBeWritten) {  // C-221
  const auto lost = run_shell(
      "mkfifo up; \"$0\" call bash 'echo begun; echo >up; sleep 600' >/dev/full & p=$!; "
      "read line <up; kill -TERM $p; wait $p");
  EXPECT_EQ(lost.exit_code, 125);
  EXPECT_THAT(lost.err, HasSubstr("cannot write"));
}

// A shell without job control starts what runs in the background with SIGINT ignored; a descriptor
// gets it all the same.
TEST_F(CallStatus, CtrlCIsStatus130) {  // C-156, C-221
  const auto ended = signalled("INT");
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("begun"));
}

TEST_F(CallStatus, ACommandThatDidNotRunIsNoSuccess) {  // C-221
  const auto missing = call({"exec", "no-such-program"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.out, HasSubstr("cannot start no-such-program"));
  EXPECT_EQ(call({"bash", "if"}).exit_code, 1);
  EXPECT_EQ(call({"bash", "cat <<END"}).exit_code, 1);
  EXPECT_EQ(call({"bash", "--check", "if"}).exit_code, 1);
  EXPECT_EQ(call({"bash", "--check", "ls"}).exit_code, 0);
  EXPECT_EQ(call({"bash", "exit 7"}).exit_code, 0);
  EXPECT_EQ(call({"bash", "no-such-program"}).exit_code, 0);  // the shell ran, and said 127
  EXPECT_EQ(call({"exec", "false"}).exit_code, 0);
  EXPECT_EQ(call({"bash", "--timeout-ms", "1", "sleep 600"}).exit_code, 124);
  EXPECT_EQ(call({"bash", "--output-limit-bytes", "10", "yes"}).exit_code, 1);
}

TEST_F(CallStatus, ADeclinedRequestIsNoSuccess) {  // C-221
  const std::string request = R"({"write":["/opt"],"justification":"a test"})";
  for (const char* action : {"decline", "cancel"}) {
    const auto no = call({"exec", "--request", request, "--answer",
                          R"({"action":")" + std::string(action) + R"("})", "true"});
    EXPECT_EQ(no.exit_code, 1) << no.err;
    EXPECT_THAT(no.out, HasSubstr("nothing ran"));
  }
  EXPECT_EQ(call({"exec", "--request", request, "true"}).exit_code, 3);
}

TEST_F(CallStatus, WrongWordsAreStatusTwoWhereverTheyStand) {  // C-221
  const std::vector<std::string> cases[] = {
      {"--policy"},
      {"--policy="},
      {"--workspace"},
      {"--allow-host"},
      {"--json=false", "exec", "true"},
      {"--nonsense", "exec", "true"},
      {"exec", "--json=false", "true"},
      {"exec", "--help=1"},
      {"--", "exec", "true"},
      {"exec", "--nonsense", "true"},
      {"exec", "--session", "", "true"},
      {"exec", "--session", "a b", "true"},
      {"bash", "--background", "true"},
      {"bash", "--yield-ms", "0", "true"},
      {"bash", "--on-timeout", "background", "true"},
      {"bash", "--stdin", "pipe", "cat"},
      {"exec", "--background", "true"},
      {"exec", "--arguments", R"({"argv":["true"],"stdin":"pipe"})"}};
  for (const auto& words : cases) {
    const auto refused = call(words);
    EXPECT_EQ(refused.exit_code, 2) << words.front() << refused.err;
    EXPECT_EQ(refused.out, "") << words.front();
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
  }
  EXPECT_THAT(call({"exec", "--session", "", "true"}).err, HasSubstr("a session's name has"));
  EXPECT_THAT(call({"bash", "--background", "true"}).err, HasSubstr("ends with its call"));
}

TEST_F(CallStatus, HelpThatCannotBeWrittenIsNoSuccess) {  // C-221
  for (const char* words :
       {"--help", "call --help", "run --help", "call exec --help", "--version"}) {
    const auto lost = run_shell("exec \"$0\" " + std::string(words) + " >/dev/full");
    EXPECT_EQ(lost.exit_code, 125) << words;
    EXPECT_THAT(lost.err, HasSubstr("cannot write standard output")) << words;
    EXPECT_EQ(run_shell("exec \"$0\" " + std::string(words)).exit_code, 0) << words;
  }
}

TEST_F(CallStatus, NothingAdvisesWhatASessionThatIsGoneCannotDo) {  // C-221
  const auto cut = call({"bash", "head -c 200000 /dev/zero | tr '\\0' x"});
  EXPECT_EQ(cut.exit_code, 0) << cut.err;
  EXPECT_THAT(cut.out, HasSubstr("stdout has 200000 bytes in 1 lines; max_output_bytes shows"));
  EXPECT_EQ(cut.out.find("bash_output"), std::string::npos);
}

TEST_F(CallStatus, HelpNamesTheValuesOfAFlag) {  // C-220
  const auto help = call({"bash", "--help"});
  EXPECT_THAT(help.out, HasSubstr("(kill or background; default kill)"));
  EXPECT_THAT(help.out, HasSubstr("(only read-only)"));
  EXPECT_THAT(help.out, HasSubstr("--no-check-syntax"));
}

}  // namespace
}  // namespace bawn::test
