// The shell may end under a call: the status is true, the state goes on.
#include "bawn/os/procfs.hpp"
#include "session_fixture.hpp"

#include <gmock/gmock.h>

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace bawn::test {
namespace {

using shell::Reason;
using shell::Restored;
using ::testing::HasSubstr;

constexpr const char* kState =
    "cd /usr; V='a b'; export E=x; declare -A M=([k y]='v w'); A=(1 '2 3'); f() { echo fn; }; "
    "alias ll='echo AL'; shopt -s nullglob; umask 027";
constexpr const char* kShow =
    "pwd; echo \"$V $E ${M[k y]} ${A[1]}\"; f; ll; shopt -q nullglob && echo nullglob; umask; "
    "printenv E";
constexpr const char* kShown = "/usr\na b x v w 2 3\nfn\nAL\nnullglob\n0027\nx\n";

TEST_F(SessionTest, ExitGivesItsStatusAndTheStateGoesOn) {
  sh(kState);
  const auto result = sh("echo out; exit 42");
  EXPECT_EQ(result.reason, Reason::Exited);
  EXPECT_EQ(result.exit_code, 42);
  EXPECT_EQ(result.out.text, "out\n");
  EXPECT_TRUE(result.shell_restarted);
  EXPECT_EQ(result.restored, Restored::Full);
  EXPECT_EQ(result.cwd, "/usr");
  EXPECT_EQ(sh(kShow).out.text, kShown);
}

TEST_F(SessionTest, AFailingErrexitEndsOnlyTheCall) {
  const auto result = sh("export A=1; cd /tmp; set -euo pipefail; false; echo no");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(result.shell_restarted);
  EXPECT_THAT(result.options_reset, ::testing::Contains("errexit"));
  EXPECT_EQ(sh("echo $A; pwd; false; echo alive").out.text, "1\n/tmp\nalive\n");
}

TEST_F(SessionTest, ExecInTheShellGivesTheStatusOfTheProgram) {
  sh(kState);
  ASSERT_TRUE(session_->restart(contract::Context(), true));  // makes sure that the state is saved
  const auto result = sh("exec sh -c 'echo replaced; exit 6'");
  EXPECT_EQ(result.out.text, "replaced\n");
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.restored, Restored::Snapshot);
  EXPECT_EQ(sh(kShow).out.text, kShown);
}

TEST_F(SessionTest, KillingTheShellIsASignalAndTheSavedStateGoesOn) {
  sh(kState);
  ASSERT_TRUE(session_->restart(contract::Context(), true));
  const auto result = sh("echo before; kill -9 $$");
  EXPECT_EQ(result.out.text, "before\n");
  EXPECT_EQ(result.reason, Reason::Signalled);
  EXPECT_EQ(result.signal, 9);
  EXPECT_EQ(result.restored, Restored::Snapshot);
  EXPECT_EQ(sh(kShow).out.text, kShown);
}

TEST_F(SessionTest, WhatTheExitTrapSavedServesTheNextEndingToo) {
  sh("V=5");
  ASSERT_TRUE(session_->restart(contract::Context(), true));  // saved, and out of date from here on
  EXPECT_EQ(sh("V=6; exit 0").restored, Restored::Full);
  EXPECT_EQ(sh("kill -9 $$").restored, Restored::Snapshot);
  EXPECT_EQ(sh("echo $V").out.text, "6\n");
}

TEST_F(SessionTest, ExitLeavesJobsAsSurvivors) {
  const auto result = sh("sleep 600 & exit 1");
  EXPECT_EQ(result.exit_code, 1);
  ASSERT_EQ(result.survivors.size(), 1U);
}

TEST_F(SessionTest, AUsersExitTrapRunsAndTheSavedStateServes) {
  sh("V=1");
  ASSERT_TRUE(session_->restart(contract::Context(), true));
  const auto result = sh("trap 'echo bye' EXIT; exit 3");
  EXPECT_EQ(result.out.text, "bye\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(sh("echo $V").out.text, "1\n");
}

TEST_F(SessionTest, SignalsToTheGroupOrTermDoNotEndTheShell) {
  EXPECT_EQ(sh("kill 0; echo x").out.text, "x\n");
  EXPECT_EQ(sh("kill -TERM $$; echo y").out.text, "y\n");
  EXPECT_FALSE(sh("true").shell_restarted);
}

TEST_F(SessionTest, RestartCanForgetTheState) {
  sh("V=1; cd /");
  const auto fresh = session_->restart(contract::Context(), false);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(*fresh, Restored::Nothing);
  EXPECT_EQ(sh("echo \"[$V]\"").out.text, "[]\n");
}

TEST_F(SessionTest, ADirectoryThatIsGoneIsReplacedByTheWorkspace) {
  const auto result = sh("mkdir d; cd d; rm -r ../d; exit 2");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_FALSE(result.cwd_missing);
  EXPECT_EQ(sh("pwd -P").out.text, workspace_.path().string() + "\n");
}

TEST_F(SessionTest, ReadOnlyVariablesAndOddValuesAreRestored) {
  sh("readonly R='r o'; N=$'new\\nline'; Q=\"it's\"; declare -i I=4; declare -n REF=I");
  sh("exit 0");
  EXPECT_EQ(sh("echo \"$R|$N|$Q|$REF\"").out.text, "r o|new\nline|it's|4\n");
}

TEST_F(SessionTest, AKillIsCalledOutOfMemoryOnlyWhenTheKernelCountsOne) {
  session_->close();
  kernel_counters_ = state_.path() / "counters";
  const auto count = [&](const char* kills) {
    std::ofstream(kernel_counters_) << "nr_free_pages 12\noom_kill " << kills << "\npgfault 1\n";
  };
  count("3");
  limits_.snapshot_idle = std::chrono::milliseconds(0);  // the session never counts as idle
  start();
  EXPECT_EQ(sh("sh -c 'kill -9 $$'").reason, Reason::Exited);
  EXPECT_EQ(exec({"sh", "-c", "kill -9 $$"}).reason, Reason::Signalled);
  count("5");
  const auto killed = sh("sh -c 'kill -9 $$'");
  EXPECT_EQ(killed.reason, Reason::Oom);
  EXPECT_EQ(killed.exit_code, 137);
  EXPECT_THAT(killed.notes, ::testing::Contains(HasSubstr("2 processes")));
  EXPECT_EQ(exec({"sh", "-c", "kill -9 $$"}).reason, Reason::Oom);
  EXPECT_EQ(sh("kill -9 $$").reason, Reason::Oom);
  EXPECT_EQ(sh("(exit 1)").reason, Reason::Exited);
}

TEST_F(SessionTest, AShellThatIsSlowToBeginIsWaitedFor) {
  // As on a machine that has no time for it: the step and whatever is written after it lie unread.
  const int shell = std::stoi(sh("echo $$").out.text);
  ASSERT_EQ(::kill(shell, SIGSTOP), 0);
  shell::BashRequest request;
  request.command = "sleep 1.5; echo done; (exit 4)";
  request.yield = std::chrono::milliseconds(400);
  const shell::CallResult begun = run(std::move(request));
  ASSERT_EQ(::kill(shell, SIGCONT), 0);
  shell::OutputRequest rest;
  rest.call = begun.call;
  const auto result = session_->output(contract::Context(), rest);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, Reason::Exited);
  EXPECT_EQ(result->exit_code, 4);
  EXPECT_EQ(result->out.text, "done\n");
}

TEST_F(SessionTest, ATextThatNeverBeganIsNotReportedAsRun) {
  for (int round = 0; round < 10; ++round) {
    sh("set -t");  // the shell ends after one more line of its own
    const auto result = sh("echo ran");
    EXPECT_TRUE(result.reason == Reason::ShellLost || result.out.text == "ran\n")
        << result.out.text;
  }
}

/// A trap that never ends runs after the call that set it off.
constexpr const char* kRunaway =
    "v=kept; trap 'while :; do :; done' USR1; ( until [ -e go ]; do sleep 0.01; done; "
    "kill -USR1 $$ ) & echo $$";

class RunawayTest : public SessionTest {
 protected:
  void restart_with(shell::Milliseconds idle_watch, shell::Milliseconds busy_shell) {
    session_->close();
    limits_.idle_watch = idle_watch;
    limits_.busy_shell = busy_shell;
    start();
  }
  void set_off() { std::ofstream(workspace_.path() / "go") << 1; }
};

TEST_F(RunawayTest, AShellThatRunsOnBetweenCallsIsEnded) {
  restart_with(shell::Milliseconds(200), shell::Milliseconds(600'000));
  const auto pid = std::stoi(sh(kRunaway).out.text);
  shell::BashRequest beside;
  beside.command = ":";
  beside.background = true;
  run(std::move(beside));  // which has the state taken now
  set_off();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (kill(pid, 0) == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_NE(kill(pid, 0), 0) << "the shell still runs";
  const auto next = sh("echo $v");
  EXPECT_EQ(next.out.text, "kept\n");
  EXPECT_THAT(next.notes, ::testing::Contains(HasSubstr("had ended since the last call")));
}

TEST_F(RunawayTest, AShellThatDoesNotComeBackToItsPromptIsReplaced) {
  restart_with(shell::Milliseconds(0), shell::Milliseconds(300));
  const auto pid = std::stoi(sh(kRunaway).out.text);
  const auto before = os::cpu_ticks(pid).value_or(0);
  set_off();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (os::cpu_ticks(pid).value_or(0) < before + 10 &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const auto lost = sh("touch ran");
  EXPECT_EQ(lost.reason, Reason::ShellLost);
  EXPECT_TRUE(lost.shell_restarted);
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "ran"));
  EXPECT_THAT(lost.notes, ::testing::Contains(HasSubstr("did not come back to its prompt")));
  EXPECT_EQ(sh("echo on").out.text, "on\n");
}

TEST_F(SessionTest, ExportingEverythingKeepsTheReportsNonceFromChildren) {
  sh("set -a; later=1");
  EXPECT_EQ(sh("printenv later").out.text, "1\n");
  EXPECT_EQ(sh("printenv __bi; echo $?").out.text, "1\n");
  sh("set +a");
  EXPECT_EQ(sh("printenv __bi; echo $?").out.text, "1\n");
}

}  // namespace
}  // namespace bawn::test
