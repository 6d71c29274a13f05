// The shell behind the real wall: what a command may do, and what it must not reach.
#include "walled_session.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <random>

namespace bawn::test {
namespace {

using shell::CallState;
using shell::Reason;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(WalledSession, KeepsStateAndReportsItsConfinement) {
  EXPECT_EQ(sh("cd /usr; V=1; f() { echo \"f$V\"; }").exit_code, 0);
  EXPECT_EQ(sh("pwd; f").out.text, "/usr\nf1\n");
  EXPECT_TRUE(session_->confinement().confirmed);
  EXPECT_TRUE(session_->confinement().confined);
  EXPECT_THAT(session_->confinement().by, HasSubstr("seccomp"));
}

TEST_F(WalledSession, WritesInTheWorkspaceAndNowhereElse) {
  EXPECT_EQ(sh("echo x > inside && cat inside").out.text, "x\n");
  EXPECT_EQ(read_file(workspace_.path() / "inside"), "x\n");
  EXPECT_EQ(sh("echo x > \"${TMPDIR:-/tmp}/mine\" && cat \"${TMPDIR:-/tmp}/mine\"").out.text,
            "x\n");
  const auto refused = sh("echo x > /etc/bawn-test");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err.text,
              ::testing::AnyOf(HasSubstr("Permission denied"), HasSubstr("Read-only file system")));
}

/// Something that reads, tried in a call of its own that may change nothing.
shell::BashRequest only_reading(std::string command) {
  shell::BashRequest request;
  request.command = std::move(command);
  request.read_only = true;
  return request;
}

TEST_F(WalledSession, ACallThatOnlyReadsWritesInNoWritableRootHoweverItIsNamed) {
  BAWN_REQUIRE("landlock");
  const TempDir in_tmp("/tmp");
  const TempDir in_shm("/dev/shm");
  const TempDir links("/var/tmp");
  const TempDir workspace("/var/tmp");
  for (const TempDir* one : {&in_tmp, &in_shm, &workspace}) {
    std::filesystem::permissions(one->path(), std::filesystem::perms::all);
  }
  std::filesystem::permissions(links.path(), static_cast<std::filesystem::perms>(0755));
  std::filesystem::create_symlink(in_tmp.path(), links.path() / "link");
  sandbox::Policy policy = *sandbox::preset("workspace-write");
  policy.write = {links.path() / "link", in_shm.path()};
  for (const std::filesystem::path& root : {in_tmp.path(), in_shm.path()}) {
    session_->close();
    start(policy, workspace);
    const std::string file = root / "x";
    EXPECT_NE(run(only_reading("echo x > " + file)).exit_code, 0) << file;
    EXPECT_FALSE(std::filesystem::exists(file));
    EXPECT_EQ(run(only_reading("echo x > /dev/null")).exit_code, 0) << "devices stay";
    EXPECT_EQ(sh("echo x > " + file).exit_code, 0) << "control";
    EXPECT_TRUE(std::filesystem::exists(file));
  }
}

TEST_F(WalledSession, ACallThatOnlyReadsKeepsModesAndTimes) {
  BAWN_REQUIRE("landlock");
  ASSERT_EQ(sh("echo x > a; chmod 640 a; touch -d @7 a").exit_code, 0);
  const auto tried = run(only_reading("chmod 777 a; touch -d @0 a; chmod 0 .; stat -c '%a %Y' a"));
  EXPECT_EQ(tried.out.text, "640 7\n");
  EXPECT_THAT(tried.err.text, HasSubstr("Operation not permitted"));
  EXPECT_EQ(sh("stat -c '%a %Y' a; chmod 600 a; stat -c %a a").out.text, "640 7\n600\n");
}

TEST_F(WalledSession, AProgramThatThePolicyKeepsUnreadableIsDenied) {
  if (over_pipes()) {
    GTEST_SKIP() << "this machine's policy explains no refusal of another place";
  }
  shell::ExecRequest request;
  request.argv = {"/etc/shadow"};
  EXPECT_EQ(session_->exec(contract::Context(), request)->reason, Reason::Denied);
  request.argv = {"/etc/passwd"};
  EXPECT_EQ(session_->exec(contract::Context(), request)->reason, Reason::Exited)
      << "plain permissions refuse it";
}

TEST_F(WalledSession, SaysWhichProtectedNamesChangedDuringACall) {
  if (over_pipes()) {
    GTEST_SKIP() << "the server does not see the files of another place";
  }
  EXPECT_TRUE(sh("touch plain").protected_changes.empty());
  const auto changes = sh("mkdir .vscode && echo '{}' > .vscode/tasks.json").protected_changes;
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, (workspace_.path() / ".vscode").string());
  EXPECT_EQ(changes[0].kind, sandbox::ProtectedChange::Kind::Appeared);
  EXPECT_TRUE(sh("true").protected_changes.empty());
  EXPECT_EQ(sh("rm -r .vscode").protected_changes.size(), 1U);
}

TEST_F(WalledSession, ErrorsNameBashAndNoFileOfOurs) {
  const auto result = sh("no-such-command");
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(result.err.text, "bash: no-such-command: command not found\n");
}

// Where the shell reports, as any command of it can learn.
constexpr const char* kFindReport =
    "report=$(declare -f __bd | grep -o \"/[^']*/report'\" | head -n 1); report=${report%\\'}; "
    "w=${report%/report}; r=${w%/w}/r; [ -p \"$report\" ]";

TEST_F(WalledSession, ReportsCannotBeReadOrListedByACommand) {
  ASSERT_EQ(sh(kFindReport).exit_code, 0);
  // Control: the same path works for writing, which is how the shell reports.
  EXPECT_EQ(sh("echo junk > \"$report\"").exit_code, 0);
  EXPECT_NE(sh("timeout 5 head -c 1 \"$report\"").exit_code, 0);
  EXPECT_NE(sh("timeout 5 head -c 1 < \"$report\"").exit_code, 0);
  EXPECT_NE(sh("ls \"$w\"").exit_code, 0);
  EXPECT_NE(sh("ls \"$r\"").exit_code, 0);
  EXPECT_NE(sh("touch \"$w/new\"").exit_code, 0);
  EXPECT_NE(sh("touch \"$r/new\"").exit_code, 0);
  EXPECT_NE(sh("mv \"$report\" \"$report.old\"").exit_code, 0);
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(WalledSession, AProcessOfAnEarlierCallCannotForgeAReport) {
  ASSERT_EQ(sh(kFindReport).exit_code, 0);
  sh("(while :; do printf 'X 0 h 00 0 0/\\0\\1X\\0' > \"$report\"; "
     "printf \"$__bi 7 h 00 0 7/\\0\\1$__bi\\0\" > \"$report\"; done) >/dev/null 2>&1 &");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(sh("(exit " + std::to_string(i) + ")").exit_code, i);
  }
  EXPECT_EQ(sh("kill -9 %1; wait; echo ok").out.text, "ok\n");
}

TEST_F(WalledSession, EndsNewSessionsDoubleForksAndClearedEnvironments) {
  const auto result = stopped(
      "setsid sleep 601 & ( ( sleep 602 & ) & ); env -i setsid sleep 603 & nohup sleep 604 "
      ">/dev/null 2>&1 & (trap '' INT; sleep 605) & echo x; sleep 606",
      2);
  EXPECT_EQ(result.reason, Reason::Cancelled);
  EXPECT_THAT(result.survivors, IsEmpty());
  const auto tree = session_->warden()->tree();
  ASSERT_TRUE(tree);
  for (const auto& process : *tree) {
    // A zombie is dead, though the shell has not asked for its status yet.
    EXPECT_TRUE(process.name != "sleep" || process.state == 'Z') << process.pid;
  }
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(WalledSession, EndsSubshellsThatExecuteNothingAndSparesEarlierJobs) {
  sh("(while :; do /bin/sleep 600; done) & true");
  // A subshell that executes nothing is known by its start time, in clock ticks: some have to pass,
  // two at most over a relay, whose clock is another one.
  const auto begun = session_->warden()->start_time_now();
  while (session_->warden()->start_time_now() < begun + 3) {
    sh("/bin/true");
  }
  const auto loop = stopped("(echo x; while :; do :; done)", 2);
  EXPECT_FALSE(loop.shell_restarted);
  EXPECT_THAT(loop.survivors, IsEmpty());
  const auto deaf = stopped("(trap '' INT TERM; echo x; while :; do :; done)", 2);
  EXPECT_EQ(deaf.stopped_by, "KILL");
  EXPECT_FALSE(deaf.shell_restarted);
  EXPECT_EQ(sh("jobs -rp | wc -l").out.text, "1\n");
}

TEST_F(WalledSession, RestoresTheShellAfterExitExecAndKill) {
  sh("cd /usr; V='a b'; declare -A M=([k]=v); f() { echo fn; }");
  EXPECT_EQ(sh("exit 42").exit_code, 42);
  EXPECT_EQ(sh("pwd; echo $V ${M[k]}; f").out.text, "/usr\na b v\nfn\n");
  ASSERT_TRUE(session_->restart(contract::Context(), true));
  EXPECT_EQ(sh("exec sh -c 'exit 6'").exit_code, 6);
  EXPECT_EQ(sh("echo $V").out.text, "a b\n");
  ASSERT_TRUE(session_->restart(contract::Context(), true));
  const auto killed = sh("kill -9 $$");
  EXPECT_EQ(killed.signal, 9);
  EXPECT_TRUE(killed.shell_restarted);
  EXPECT_EQ(sh("echo $V").out.text, "a b\n");
  EXPECT_EQ(sh("set -e; false").exit_code, 1);
  EXPECT_EQ(sh("echo $V").out.text, "a b\n");
}

/// As `rm -rf /tmp/*` does where bawn's own state lies there.
TEST_F(WalledSession, RemovingTheWayToItsOwnFilesKeepsTheSession) {
  const std::string state = state_.path();
  const auto removed = sh("v=kept; rm -rf " + state + "; mv " + state + " " + state + "-away");
  EXPECT_EQ(removed.exit_code, 1);
  const auto after = sh("echo $v");
  EXPECT_EQ(after.out.text, "kept\n");
  EXPECT_FALSE(after.shell_restarted);
}

TEST_F(WalledSession, KillingEverythingInsideLeavesAUsableSession) {
  const auto result = sh("kill -9 -1");
  EXPECT_TRUE(result.exit_code.has_value());
  EXPECT_EQ(sh("echo ok").out.text, "ok\n");
}

TEST_F(WalledSession, CountsAHundredMegabytesExactly) {
  const auto result = sh("head -c 100000000 /dev/zero | tr '\\0' 'x'; echo; echo end");
  EXPECT_EQ(result.out.bytes, 100000005U);
  EXPECT_EQ(result.out.lines, 2U);
  EXPECT_THAT(result.out.text, ::testing::EndsWith("end\n"));
}

TEST_F(WalledSession, KeepsNulAndInvalidBytes) {
  const auto result = sh("printf 'a\\0b\\xff\\n'");
  EXPECT_EQ(result.out.text, std::string("a\0b\xEF\xBF\xBD\n", 7));
  EXPECT_EQ(result.out.bytes, 5U);
  EXPECT_EQ(result.out.invalid_bytes, 1U);
}

TEST_F(WalledSession, ExecRunsBesideTheShellWithExactStatus) {
  shell::ExecRequest request;
  request.argv = {"sh", "-c", "echo out; kill -TERM $$"};
  const auto result = session_->exec(contract::Context(), std::move(request));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->out.text, "out\n");
  EXPECT_EQ(result->signal, 15);
  EXPECT_GT(result->peak_memory_bytes.value_or(0), 0U);
  shell::ExecRequest missing;
  missing.argv = {"no-such-program"};
  const auto none = session_->exec(contract::Context(), std::move(missing));
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_EQ(none->exit_code, 127);
  EXPECT_THAT(none->message, HasSubstr("no-such-program"));
}

TEST_F(WalledSession, NothingIsLeftInTheWorkspaceOrOfTheSession) {
  sh("true; exit 0");
  shell::BashRequest running;
  running.command = "sleep 600 & sleep 600";
  running.yield = std::chrono::milliseconds(0);
  run(std::move(running));
  session_->close();
  std::filesystem::remove_all(workspace_.path() / ".tested");  // what BAWN_TEST_BASH put there
  EXPECT_TRUE(std::filesystem::is_empty(workspace_.path()));
  EXPECT_TRUE(std::filesystem::is_empty(state_.path() / "sessions"));
  if (over_pipes()) {
    session_.reset();
    relay_->end();
    EXPECT_FALSE(std::filesystem::exists(directory_));
  }
}

/// Stops calls of four shapes at random moments.
class CancelRace : public WalledSession, public ::testing::WithParamInterface<const char*> {};

TEST_P(CancelRace, LosesNoReportNoShellAndNoProcess) {
  std::mt19937 random(20240101);
  sh("V=kept");
  for (int i = 0; i < 60; ++i) {
    shell::BashRequest request;
    request.command = GetParam();
    request.yield = std::chrono::milliseconds(0);
    const auto running = run(std::move(request));
    // Looks at the call a random number of times: moments all over its life, and no clock.
    shell::OutputRequest look;
    look.call = running.call;
    look.wait = std::chrono::milliseconds(0);
    for (auto spin = random() % 400; spin > 0; --spin) {
      ASSERT_TRUE(session_->output(contract::Context(), look));
    }
    ASSERT_TRUE(session_->stop(running.call));
    look.wait.reset();
    const auto result = session_->output(contract::Context(), look);
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->shell_restarted) << "round " << i;
    EXPECT_TRUE(result->exit_code == 130 || result->exit_code == 0)
        << "round " << i << ": " << result->exit_code.value_or(-1);
    EXPECT_THAT(result->survivors, IsEmpty()) << "round " << i;
    ASSERT_EQ(sh("echo $V").out.text, "kept\n") << "round " << i;
  }
  const auto tree = session_->warden()->tree();
  ASSERT_TRUE(tree);
  for (const auto& process : *tree) {
    EXPECT_EQ(process.name, "bash");
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CancelRace,
                         ::testing::Values("/bin/sleep 0.05",
                                           "/bin/sleep 0.05; echo x; /bin/sleep 0.05",
                                           "while :; do /bin/true; done", "while :; do :; done"));

}  // namespace
}  // namespace bawn::test
