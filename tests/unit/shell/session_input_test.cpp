// What a call may be given: input that stays open, a place and variables of its own, a bash beside
// the shell, a terminal.
#include "session_fixture.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace bawn::test {
namespace {

using shell::BashRequest;
using shell::CallResult;
using shell::CallState;
using shell::OnTimeout;
using shell::Reason;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SessionInputTest : public SessionTest {
 protected:
  /// Starts it and answers once it waits for input.
  CallResult begin(BashRequest request) {
    request.yield = std::chrono::milliseconds(0);
    return follow(run(std::move(request)).call, "");
  }
  /// Waits until new output matches, or with an empty pattern until it waits for input.
  CallResult follow(const std::string& call, const std::string& until) {
    shell::OutputRequest look;
    look.call = call;
    look.wait = std::chrono::seconds(20);
    if (!until.empty()) {
      look.until = until;
      return output(look);
    }
    look.wait = std::chrono::milliseconds(0);
    look.out_from = 0;
    CallResult result;
    do {
      result = output(look);
    } while (result.state == CallState::Running && result.waiting_for.empty());
    return result;
  }
  CallResult output(const shell::OutputRequest& request) {
    auto result = session_->output(contract::Context(), request);
    EXPECT_TRUE(result) << (result ? "" : result.error().message());
    if (!result) {
      return {};
    }
    result->screen = result->screen.value_or("");
    return *std::move(result);
  }
  CallResult to_end(const std::string& call) {
    shell::OutputRequest look;
    look.call = call;
    look.out_from = 0;
    look.err_from = 0;
    return output(look);
  }
  void type(const std::string& call, const std::string& bytes, bool end = false) {
    const auto written =
        session_->write_input({.call = call, .bytes = bytes, .end = end, .resize = std::nullopt});
    EXPECT_TRUE(written) << (written ? "" : written.error().message());
  }
};

BashRequest text(std::string command) {
  BashRequest request;
  request.command = std::move(command);
  return request;
}

TEST_F(SessionInputTest, OpenInputIsWrittenWhileTheCallRunsAndEndsWhenTold) {
  BashRequest request = text("sort; echo end");
  request.input_open = true;
  request.input = "c\n";
  const auto begun = begin(std::move(request));
  EXPECT_EQ(begun.state, CallState::Running);
  EXPECT_EQ(begun.waiting_for, "stdin");
  type(begun.call, "b\na\n");
  type(begun.call, "", true);
  EXPECT_EQ(to_end(begun.call).out.text, "a\nb\nc\nend\n");
  // Over: nothing more is taken, and the reason is said.
  const auto late = session_->write_input(
      {.call = begun.call, .bytes = "x", .end = false, .resize = std::nullopt});
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message(), HasSubstr("has ended"));
}

TEST_F(SessionInputTest, TheShellItselfReadsOpenInput) {
  BashRequest request = text("read -r line; kept=$line");
  request.input_open = true;
  const auto begun = begin(std::move(request));
  EXPECT_EQ(begun.waiting_for, "stdin");
  type(begun.call, "some words\n");
  EXPECT_EQ(to_end(begun.call).exit_code, 0);
  EXPECT_EQ(sh("echo \"$kept\"").out.text, "some words\n");
}

TEST_F(SessionInputTest, InputThatNobodyReadsIsBoundedAndRefusedWhole) {
  BashRequest request = text("sleep 60");
  request.input_open = true;
  request.yield = std::chrono::milliseconds(0);
  const auto begun = run(std::move(request));
  const std::string much(1024 * 1024, 'x');
  bool refused = false;
  for (int i = 0; i < 4 && !refused; ++i) {
    const auto written = session_->write_input(
        {.call = begun.call, .bytes = much, .end = false, .resize = std::nullopt});
    refused = !written && written.error().code() == contract::ErrorCode::ResourceExhausted;
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(session_->stop(begun.call));
  EXPECT_EQ(to_end(begun.call).reason, Reason::Cancelled);
}

TEST_F(SessionInputTest, ACallWithoutOpenInputRefusesIt) {
  BashRequest request = text("sleep 60");
  request.yield = std::chrono::milliseconds(0);
  const auto begun = run(std::move(request));
  const auto written = session_->write_input(
      {.call = begun.call, .bytes = "x", .end = false, .resize = std::nullopt});
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message(), HasSubstr("no open input"));
  EXPECT_TRUE(session_->stop(begun.call));
}

TEST_F(SessionInputTest, DirectoryAndVariablesOfOneCallDoNotLast) {
  std::filesystem::create_directory(workspace_.path() / "sub");
  sh("A=mine");
  BashRequest request = text("pwd; echo \"$A $B\"; env | grep -c '^[AB]='; A=changed; cd /");
  request.cwd = "sub";
  request.environment = {{"A", "it's"}, {"B", "two words"}};
  const auto result = run(std::move(request));
  EXPECT_EQ(result.out.text, workspace_.path().string() + "/sub\nit's two words\n2\n");
  EXPECT_EQ(result.cwd, workspace_.path());
  EXPECT_EQ(sh("pwd; echo \"$A[$B]\"").out.text, workspace_.path().string() + "\nmine[]\n");
}

TEST_F(SessionInputTest, ACutOffCallStillLeavesItsDirectory) {
  std::filesystem::create_directory(workspace_.path() / "sub");
  BashRequest request = text("echo ${nope:?no}; echo not reached");
  request.cwd = workspace_.path() / "sub";
  EXPECT_EQ(run(std::move(request)).cwd, workspace_.path());
  request = text("pwd");
  request.cwd = "/not/there";
  const auto missing = run(std::move(request));
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err.text, HasSubstr("/not/there"));
  EXPECT_EQ(missing.out.text, "");
}

TEST_F(SessionInputTest, PipeStatusesAndReturnComeThroughTheWrapper) {
  BashRequest request = text("false | (exit 3)");
  request.environment = {{"A", "1"}};
  const auto result = run(std::move(request));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.pipe_statuses, ElementsAre(1, 3));
  request = text("return 5");
  request.environment = {{"A", "1"}};
  EXPECT_EQ(run(std::move(request)).exit_code, 5);
}

TEST_F(SessionInputTest, OddVariableNamesAreRefused) {
  for (const char* name : {"", "A=B", "1A", "a b", "BAWN_CALL", "__bz"}) {
    BashRequest request = text("true");
    request.environment = {{name, "x"}};
    const auto result = session_->run(contract::Context(), std::move(request));
    ASSERT_FALSE(result) << name;
    EXPECT_EQ(result.error().code(), contract::ErrorCode::InvalidArgument);
  }
  for (const char* name : {"", "A=B", "BAWN_CALL"}) {
    shell::ExecRequest request;
    request.argv = {"true"};
    request.environment = {{name, "x"}};
    EXPECT_FALSE(session_->exec(contract::Context(), std::move(request))) << name;
  }
  // Control: exec takes an ordinary one.
  shell::ExecRequest request;
  request.argv = {"env"};
  request.environment = {{"odd_name", "x"}};
  EXPECT_THAT(session_->exec(contract::Context(), std::move(request))->out.text,
              HasSubstr("odd_name=x\n"));
}

TEST_F(SessionInputTest, TimeLimitCanPutACallIntoTheBackground) {
  BashRequest request = text("echo before; read -r line; echo \"after $line\"");
  request.input_open = true;
  request.timeout = std::chrono::milliseconds(50);
  request.on_timeout = OnTimeout::Background;
  const auto result = run(std::move(request));
  EXPECT_EQ(result.state, CallState::Running);
  EXPECT_THAT(result.notes, Contains(HasSubstr("50 ms passed")));
  type(result.call, "all\n");
  const auto end = to_end(result.call);
  EXPECT_EQ(end.reason, Reason::Exited);
  EXPECT_EQ(end.out.text, "before\nafter all\n");
}

TEST_F(SessionInputTest, CheckOnlyRunsNothingAndNeedsNoShell) {
  BashRequest busy = text("sleep 60");
  busy.yield = std::chrono::milliseconds(0);
  const auto running = run(std::move(busy));
  BashRequest request = text("touch made; if true; then echo; fi");
  request.check_only = true;
  EXPECT_EQ(run(std::move(request)).reason, Reason::Exited);
  request = text("touch made; if true; then");
  request.check_only = true;
  EXPECT_EQ(run(std::move(request)).reason, Reason::SyntaxError);
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "made"));
  EXPECT_TRUE(session_->stop(running.call));
}

TEST_F(SessionInputTest, BackgroundCallHasTheShellsStateAndLeavesTheShellFree) {
  sh("f() { echo \"f $v\"; }; v=1; export w=2; cd /usr; shopt -s expand_aliases; alias a='echo "
     "al'");
  BashRequest request = text("f; pwd; echo $w; a; v=9; read -r line; false | true");
  request.background = true;
  request.input_open = true;
  const auto begun = run(std::move(request));
  EXPECT_EQ(begun.state, CallState::Running);
  EXPECT_EQ(sh("echo free $v").out.text, "free 1\n");
  type(begun.call, "\n");
  const auto end = to_end(begun.call);
  EXPECT_EQ(end.out.text, "f 1\n/usr\n2\nal\n");
  EXPECT_THAT(end.pipe_statuses, ElementsAre(1, 0));
  EXPECT_TRUE(end.cpu_us.has_value());
  EXPECT_EQ(sh("echo $v").out.text, "1\n");
}

TEST_F(SessionInputTest, BackgroundCallThatIsTimedOutSaysSo) {
  BashRequest request = text("sleep 60");
  request.background = true;
  request.timeout = std::chrono::milliseconds(50);
  const auto end = to_end(run(std::move(request)).call);
  EXPECT_EQ(end.reason, Reason::Timeout);
  EXPECT_EQ(end.exit_code, 130);
}

TEST_F(SessionInputTest, NarrowingWithoutLandlockIsRefused) {
  BashRequest request = text("true");
  request.read_only = true;
  const auto result = session_->run(contract::Context(), std::move(request));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), contract::ErrorCode::Unsupported);
}

class SessionTerminalTest : public SessionInputTest {
 protected:
  CallResult begin_on_terminal(const std::string& command) {
    BashRequest request = text(command);
    request.terminal = shell::TerminalSize{.columns = 60, .rows = 10};
    request.yield = std::chrono::milliseconds(0);
    return run(std::move(request));
  }
};

TEST_F(SessionTerminalTest, AnInstallerAsksAndIsAnswered) {
  const auto begun = begin_on_terminal(
      "test -t 0 && test -t 1 && stty size; read -p 'go on? [y/n] ' a; echo got $a </dev/tty");
  const auto asked = follow(begun.call, "go on");
  EXPECT_EQ(asked.screen, "10 60\ngo on? [y/n]\n");
  EXPECT_EQ(follow(begun.call, "").waiting_for, "terminal");
  type(begun.call, "y\n");
  const auto end = to_end(begun.call);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.out.text, "10 60\ngo on? [y/n] y\ngot y\n");
}

TEST_F(SessionTerminalTest, ControlCInterruptsTheForeground) {
  // Its own word that it reads: bash loses a SIGINT between a line of its own and the exec behind
  // it.
  const auto begun = begin_on_terminal("exec sed -u s/r/R/");
  type(begun.call, "ready\n");
  follow(begun.call, "Ready");
  type(begun.call, "\x03");
  EXPECT_EQ(to_end(begun.call).signal, 2);
}

TEST_F(SessionTerminalTest, ResizeReachesThePrograms) {
  const auto begun =
      begin_on_terminal("trap 'stty size; exit 4' WINCH; echo ready; while :; do read -t 1; done");
  follow(begun.call, "ready");
  EXPECT_TRUE(session_->write_input({.call = begun.call,
                                     .bytes = {},
                                     .end = false,
                                     .resize = shell::TerminalSize{.columns = 33, .rows = 7}}));
  const auto end = to_end(begun.call);
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_THAT(end.out.text, HasSubstr("7 33"));
}

TEST_F(SessionTerminalTest, EndOfFileEndsAProgramThatReads) {
  const auto begun = begin_on_terminal("cat; echo end");
  type(begun.call, "line\n", true);
  EXPECT_EQ(to_end(begun.call).exit_code, 0);
}

TEST_F(SessionTerminalTest, AnEditorIsDriven) {
  if (!std::filesystem::exists("/usr/bin/vim.tiny")) {
    GTEST_SKIP() << "there is no vim.tiny here";
  }
  workspace_.write("f.txt", "one\ntwo\n");
  const auto begun = begin_on_terminal("vim.tiny -u NONE f.txt");
  // Older ones print the file's size last, newer ones first.
  EXPECT_THAT(*follow(begun.call, "(?s)2L, 8B|2 lines, 8 bytes.*\\[9;1H~").screen,
              HasSubstr("one\ntwo\n~"));
  type(begun.call, "Gothree");
  type(begun.call, "\x1b");
  type(begun.call, ":wq\n");
  EXPECT_EQ(to_end(begun.call).exit_code, 0);
  EXPECT_EQ(sh("cat f.txt").out.text, "one\ntwo\nthree\n");
}

TEST_F(SessionTerminalTest, APagerIsDriven) {
  if (!std::filesystem::exists("/usr/bin/less")) {
    GTEST_SKIP() << "there is no less here";
  }
  const auto begun = begin_on_terminal("seq 100 | less");
  EXPECT_THAT(*follow(begun.call, "\n9\\s").screen, HasSubstr("1\n2\n3\n"));
  type(begun.call, "G");
  EXPECT_THAT(*follow(begun.call, "100").screen, HasSubstr("100\n"));
  type(begun.call, "q");
  EXPECT_EQ(to_end(begun.call).exit_code, 0);
}

TEST_F(SessionTerminalTest, ThePythonReplIsDriven) {
  BAWN_REQUIRE("python3");
  const auto begun = begin_on_terminal("python3 -q");
  follow(begun.call, ">>> ");
  type(begun.call, "6*7\n");
  EXPECT_THAT(*follow(begun.call, "42").screen, HasSubstr("42\n"));
  type(begun.call, "exit(3)\n");
  EXPECT_EQ(to_end(begun.call).exit_code, 3);
}

TEST_F(SessionTerminalTest, QueriesAreNotAnswered) {
  // A terminal would answer the first with its position: read times out instead.
  const auto begun = begin_on_terminal(
      "stty raw -echo; printf '\\033[6n\\033[c'; read -t 0.2 -n 1 x; stty sane; echo \"[$x]\"");
  EXPECT_THAT(to_end(begun.call).out.text, HasSubstr("[]"));
}

}  // namespace
}  // namespace bawn::test
