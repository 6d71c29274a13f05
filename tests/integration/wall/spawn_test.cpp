#include "bawn/os/unique_fd.hpp"
#include "plans.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>

namespace {

using bawn::contract::Context;
using bawn::contract::ErrorCode;
using bawn::test::bare_plan;
using bawn::test::landlock_plan;
using bawn::test::namespace_plan;
using bawn::test::run;
using bawn::test::spec;
using bawn::test::start;
using bawn::test::TempDir;

TEST(WallSpawnTest, ReportsExitCodeOutputAndSignal) {
  const auto warden = start(bare_plan());
  ASSERT_NE(warden, nullptr);
  const auto ran = run(*warden, {"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(ran.status.code, 7);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
  EXPECT_GT(ran.status.peak_rss_bytes, 0U);
  const auto killed = run(*warden, {"sh", "-c", "kill -9 $$"});
  EXPECT_EQ(killed.status.signal, SIGKILL);
  EXPECT_EQ(killed.status.shell_code(), 137);
}

TEST(WallSpawnTest, WorksWithAllNamespacesAsRoot) {
  BAWN_REQUIRE("root");
  BAWN_REQUIRE("user-namespaces");
  const TempDir workspace;
  std::filesystem::permissions(workspace.path(), std::filesystem::perms::all);
  const auto warden = start(namespace_plan(workspace.path(), 1234));
  ASSERT_NE(warden, nullptr);
  EXPECT_TRUE(warden->report().confirmed);
  EXPECT_NE(warden->pid_namespace(), 0U);
  EXPECT_THAT(warden->report().layers[0].missing,
              testing::ElementsAre(testing::HasSubstr("tmpfs on /not-there")));
  const auto ran = run(*warden, {"sh", "-c", "id -u; id -g; hostname; cat /proc/self/uid_map"});
  EXPECT_EQ(ran.status.code, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::StartsWith("1234\n1234\nbawn-test\n"));
}

TEST(WallSpawnTest, FailedExecGives127And126WithItsErrno) {
  const auto warden = start(bare_plan());
  ASSERT_NE(warden, nullptr);
  const auto missing = run(*warden, {"no-such-program-anywhere"});
  EXPECT_EQ(missing.status.code, 127);
  EXPECT_EQ(missing.status.exec_errno, ENOENT);
  const auto denied = run(*warden, {"/etc/passwd"});
  EXPECT_EQ(denied.status.code, 126);
  EXPECT_EQ(denied.status.exec_errno, EACCES);
}

TEST(WallSpawnTest, ScriptWithoutInterpreterLineRunsByShell) {
  const auto warden = start(bare_plan());
  ASSERT_NE(warden, nullptr);
  const TempDir directory;
  const auto script = directory.write("script", "echo \"$0 $1\"\n");
  ASSERT_EQ(::chmod(script.c_str(), 0755), 0);
  EXPECT_EQ(run(*warden, {script, "word"}).out, script.string() + " word\n");
}

TEST(WallSpawnTest, NothingRunsWithoutGo) {
  const auto warden = start(bare_plan());
  ASSERT_NE(warden, nullptr);
  const TempDir directory;
  const std::string mark = directory.path() / "mark";
  {
    auto child = warden->spawn(spec({"touch", mark}));
    ASSERT_TRUE(child) << child.error().message();
    EXPECT_GT((*child)->pid(), 0);
    EXPECT_GT((*child)->start_time(), 0U);
    const auto soon = Context().with_deadline(Context::Clock::now());
    EXPECT_TRUE((*child)->wait(soon).error().is(ErrorCode::DeadlineExceeded));
  }
  // The warden answers in order, so the withdrawn child has been reaped or is about to end.
  EXPECT_EQ(run(*warden, {"true"}).status.code, 0);
  EXPECT_FALSE(std::filesystem::exists(mark));
  // Control: the same with go.
  EXPECT_EQ(run(*warden, {"touch", mark}).status.code, 0);
  EXPECT_TRUE(std::filesystem::exists(mark));
}

TEST(WallSpawnTest, ChildHasDescriptorsZeroToTwoOnly) {
  const int leaked = ::open("/etc/hostname", O_RDONLY);  // NOLINT: not close-on-exec on purpose
  ASSERT_GE(leaked, 0);
  const auto warden = start(bare_plan());
  ASSERT_NE(warden, nullptr);
  const auto held = warden->spawn(spec({"true"}));  // a pending one beside it
  // ls itself opens the directory as the next free number.
  EXPECT_EQ(run(*warden, {"ls", "/proc/self/fd"}).out, "0\n1\n2\n3\n");
  ::close(leaked);
}

TEST(WallSpawnTest, MissingWorkingDirectoryIsAnErrorBeforeAnythingRuns) {
  const auto warden = start(bare_plan());
  ASSERT_NE(warden, nullptr);
  auto order = spec({"true"});
  order.cwd = "/no/such/place";
  const auto child = warden->spawn(std::move(order));
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code(), ErrorCode::NotFound);
  EXPECT_THAT(child.error().message(), testing::HasSubstr("/no/such/place"));
  // Control: a directory that is there, and the session goes on.
  order = spec({"pwd"});
  order.cwd = "/usr/bin";
  EXPECT_TRUE(warden->spawn(std::move(order)));
}

TEST(WallSpawnTest, WorkingDirectoryIsTheChildsOwn) {
  const auto warden = start(bare_plan());
  ASSERT_NE(warden, nullptr);
  const TempDir directory;
  auto order = spec({"touch", "here"});
  order.cwd = directory.path();
  auto child = warden->spawn(std::move(order));
  ASSERT_TRUE(child) << child.error().message();
  ASSERT_TRUE((*child)->go());
  EXPECT_EQ((*child)->wait(Context())->code, 0);
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "here"));
  EXPECT_EQ(run(*warden, {"pwd"}).out, "/\n");
}

TEST(WallSpawnTest, ReadOnlyLayerOfOneChildLeavesTheOthersAlone) {
  BAWN_REQUIRE("landlock");
  const TempDir workspace;
  std::filesystem::permissions(workspace.path(), std::filesystem::perms::all);
  std::filesystem::create_directory(workspace.path() / "open");
  std::filesystem::permissions(workspace.path() / "open", std::filesystem::perms::all);
  const auto warden = start(landlock_plan(workspace.path()));
  ASSERT_NE(warden, nullptr);
  const std::string path = workspace.path();
  const std::vector<std::string> argv = {
      "sh", "-c", "cd " + path + "; echo x >a; echo $?; mkdir d; echo $?; echo x >open/b; echo $?"};
  auto order = spec(argv);
  order.writable_only = {path + "/open", "/not/there"};
  const auto narrow = run(*warden, std::move(order));
  EXPECT_THAT(narrow.out, testing::MatchesRegex("[12]\n1\n0\n"));
  EXPECT_THAT(narrow.err, testing::HasSubstr("Permission denied"));
  EXPECT_FALSE(std::filesystem::exists(path + "/a"));
  // Control: the next child has only the session's own layer.
  EXPECT_EQ(run(*warden, argv).out, "0\n0\n0\n");
}

TEST(WallSpawnTest, ReadOnlyLayerKeepsModesOwnersAndTimes) {
  BAWN_REQUIRE("landlock");
  BAWN_REQUIRE("python3");
  const TempDir workspace;
  workspace.write("a", "x");
  // Each is tried by whoever owns the file, and would succeed.
  const std::vector<std::string> argv = {
      "python3", "-c",
      "import os, sys\n"
      "p = sys.argv[1] + '/a'\n"
      "fd = os.open(p, os.O_RDONLY)\n"
      "tries = [lambda: os.chmod(p, 0o600), lambda: os.chmod(fd, 0o600),\n"
      "         lambda: os.chown(p, os.getuid(), os.getgid()),\n"
      "         lambda: os.chown(fd, os.getuid(), os.getgid()),\n"
      "         lambda: os.lchown(p, os.getuid(), os.getgid()),\n"
      "         lambda: os.utime(p, (0, 0)), lambda: os.utime(fd, (0, 0)),\n"
      "         lambda: os.utime(p), lambda: os.chmod(sys.argv[1], 0o700)]\n"
      "for one in tries:\n"
      "  try: one(); print('done', end=' ')\n"
      "  except OSError as e: print(e.errno, end=' ')\n",
      workspace.path()};
  const auto warden = start(landlock_plan(workspace.path()));
  ASSERT_NE(warden, nullptr);
  auto order = spec(argv);
  order.writable_only.emplace();
  EXPECT_EQ(run(*warden, std::move(order)).out, "1 1 1 1 1 1 1 1 1 ") << "EPERM each time";
  EXPECT_EQ(run(*warden, argv).out, "done done done done done done done done done ")
      << "control: the next child has only the session's own layer";
}

TEST(WallSpawnTest, ReadOnlyLayerIsRefusedWhereTheSessionHasNoLandlock) {
  const auto warden = start(bare_plan());
  ASSERT_NE(warden, nullptr);
  auto order = spec({"true"});
  order.writable_only.emplace();
  const auto child = warden->spawn(std::move(order));
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code(), ErrorCode::Unsupported);
  EXPECT_EQ(run(*warden, {"true"}).status.code, 0);
}

TEST(WallSpawnTest, TerminalOnStandardInputBecomesTheControllingOne) {
  const auto warden = start(bare_plan());
  ASSERT_NE(warden, nullptr);
  const bawn::os::UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(master.is_open());
  ASSERT_EQ(::grantpt(master.get()) | ::unlockpt(master.get()), 0);
  auto order = spec({"sh", "-c", "echo yes >/dev/tty"});
  order.standard_input.reset(
      ::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));  // NOLINT: one thread
  order.controlling_terminal = true;
  const auto ran = run(*warden, std::move(order));
  EXPECT_EQ(ran.status.code, 0) << ran.err;
  char text[16] = {};
  EXPECT_EQ(::read(master.get(), text, sizeof text), 5);
  EXPECT_STREQ(text, "yes\r\n");
  // Control: without it there is no terminal to open.
  EXPECT_NE(run(*warden, {"sh", "-c", "echo no >/dev/tty"}).status.code, 0);
}

}  // namespace
