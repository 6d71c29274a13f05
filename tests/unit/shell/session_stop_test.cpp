// Stopping a call ends what that call started, keeps the shell and what was printed.
#include "session_fixture.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace bawn::test {
namespace {

using shell::CallState;
using shell::Reason;
using ::testing::IsEmpty;

class StopTest : public SessionTest {
 protected:
  /// Starts `command`, waits until it printed `bytes`, cancels it as a caller's context would, and
  /// gives its result.
  shell::CallResult cancelled(const std::string& command, std::uint64_t bytes) {
    shell::BashRequest request;
    request.command = command;
    request.yield = std::chrono::milliseconds(0);
    auto result = run(std::move(request));
    shell::OutputRequest now;
    now.call = result.call;
    now.wait = std::chrono::milliseconds(0);
    now.out_from = 0;
    while (result.out.bytes < bytes && result.state == CallState::Running) {
      result = *session_->output(contract::Context(), now);
    }
    EXPECT_TRUE(session_->stop(result.call));
    now.wait.reset();
    return *session_->output(contract::Context(), now);
  }
  /// No process of that call is left.
  void expect_none_left(const std::string& call) {
    const auto tree = warden_->tree();
    ASSERT_TRUE(tree);
    for (const auto& process : *tree) {
      EXPECT_FALSE(process.call == call && process.state != 'Z') << process.name;
    }
  }
};

TEST_F(StopTest, AWaitingCommandEndsByInterruptAndTheShellStays) {  // C-230
  sh("V=1");
  const auto result = cancelled("echo before; sleep 600; echo after", 7);
  EXPECT_EQ(result.reason, Reason::Cancelled);
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.stopped_by, "INT");
  EXPECT_EQ(result.out.text, "before\n");
  EXPECT_FALSE(result.shell_restarted);
  expect_none_left(result.call);
  EXPECT_EQ(sh("echo $V").out.text, "1\n");
}

TEST_F(StopTest, ALoopOfBuiltinsEndsAndKeepsVariables) {
  const auto result = cancelled("V=2; echo x; while :; do :; done", 2);
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.stopped_by, "INT");
  EXPECT_FALSE(result.shell_restarted);
  EXPECT_EQ(sh("echo $V").out.text, "2\n");
}

TEST_F(StopTest, ALoopOfShortChildrenEnds) {
  const auto result = cancelled("echo x; while :; do /bin/true; done", 2);
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_FALSE(result.shell_restarted);
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(StopTest, WhatIgnoresIntAndTermIsKilled) {  // C-232
  const auto result = cancelled("echo x; sh -c 'trap \"\" INT TERM; echo y; sleep 600'", 4);
  EXPECT_EQ(result.stopped_by, "KILL");
  EXPECT_THAT(result.survivors, IsEmpty());
  EXPECT_FALSE(result.shell_restarted);
  expect_none_left(result.call);
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(StopTest, AShellThatIgnoresInterruptsIsReplaced) {
  sh("V=3");
  ASSERT_TRUE(session_->restart(contract::Context(), true));
  const auto result = cancelled("trap '' INT; echo x; while :; do :; done", 2);
  EXPECT_EQ(result.reason, Reason::Cancelled);
  EXPECT_EQ(result.stopped_by, "shell_restart");
  EXPECT_TRUE(result.shell_restarted);
  EXPECT_EQ(sh("echo $V").out.text, "3\n");
}

TEST_F(StopTest, NewSessionsDoubleForksAndClearedEnvironmentsEndToo) {
  const auto result = cancelled(
      "setsid sleep 601 & ( ( sleep 602 & ) & ); env -i setsid sleep 603 & nohup sleep 604 "
      ">/dev/null 2>&1 & (trap '' INT; sleep 605) & echo x; sleep 606",
      2);
  EXPECT_THAT(result.survivors, IsEmpty());
  const auto tree = warden_->tree();
  ASSERT_TRUE(tree);
  for (const auto& process : *tree) {
    EXPECT_FALSE(process.name == "sleep" && process.state != 'Z') << process.pid;
  }
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(StopTest, SubshellsThatExecuteNothingEndToo) {
  const auto loop = cancelled("(echo x; while :; do :; done)", 2);
  EXPECT_FALSE(loop.shell_restarted);
  EXPECT_THAT(loop.survivors, IsEmpty());
  const auto deaf = cancelled("(trap '' INT TERM; echo x; while :; do :; done)", 2);
  EXPECT_EQ(deaf.stopped_by, "KILL");
  EXPECT_FALSE(deaf.shell_restarted);
  const auto behind = cancelled("(while :; do :; done) & echo x; while :; do :; done", 2);
  EXPECT_FALSE(behind.shell_restarted);
  EXPECT_THAT(behind.survivors, IsEmpty());
}

TEST_F(StopTest, JobsOfEarlierCallsAreLeftAlone) {
  sh("sleep 600 & (while :; do /bin/sleep 600; done) & true");
  // A start time has the resolution of a clock tick; the calls of this test are further apart than
  // that.
  const auto begun = session_->warden()->start_time_now();
  while (session_->warden()->start_time_now() < begun + 2) {
    sh("/bin/true");
  }
  cancelled("echo x; sleep 601", 2);
  EXPECT_EQ(sh("jobs -rp | wc -l").out.text, "2\n");
}

TEST_F(StopTest, ATimeoutSaysSoAndKeepsTheOutput) {
  shell::BashRequest request;
  request.command = "echo before; sleep 600";
  request.timeout = std::chrono::milliseconds(100);
  const auto result = run(std::move(request));
  EXPECT_EQ(result.reason, Reason::Timeout);
  EXPECT_EQ(result.out.text, "before\n");
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(StopTest, TheCallersContextStopsTheCall) {
  const contract::CancelSource source{contract::Context()};
  std::thread canceller;
  shell::BashRequest request;
  request.command = "echo ready > flag; echo x; sleep 600";
  canceller = std::thread([&] {
    while (read_file(workspace_.path() / "flag").empty()) {
      std::this_thread::yield();
    }
    source.cancel();
  });
  const auto result = run(std::move(request), source.context());
  canceller.join();
  EXPECT_EQ(result.reason, Reason::Cancelled);
  const auto next = sh("echo ok");
  ASSERT_EQ(next.notes.size(), 1U);
  EXPECT_NE(next.notes.front().find(result.call), std::string::npos);
}

TEST_F(StopTest, AnOutputLimitStopsTheCall) {
  shell::BashRequest request;
  request.command = "yes";
  request.output_limit = 1'000'000;
  const auto result = run(std::move(request));
  EXPECT_EQ(result.reason, Reason::OutputLimit);
  EXPECT_GE(result.out.bytes, 1'000'000U);
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(StopTest, ARunningProgramIsStopped) {
  shell::ExecRequest request;
  request.argv = {"sh", "-c", "echo x; sleep 600"};
  request.timeout = std::chrono::milliseconds(100);
  const auto result = session_->exec(contract::Context(), std::move(request));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, Reason::Timeout);
  EXPECT_EQ(result->out.text, "x\n");
  EXPECT_EQ(result->signal, 2);
}

TEST_F(StopTest, ClosingTheSessionEndsARunningCall) {
  shell::BashRequest request;
  request.command = "sleep 600";
  request.yield = std::chrono::milliseconds(0);
  run(std::move(request));
  session_->close();
  const auto tree = warden_->tree();
  ASSERT_TRUE(tree);
  for (const auto& process : *tree) {
    EXPECT_EQ(process.state, 'Z') << process.name;
  }
}

}  // namespace
}  // namespace bawn::test
