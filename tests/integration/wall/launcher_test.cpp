/// \file
/// Commands behind a wall as Boost.Process handles: their end, their streams, what stops them, and
/// what a failure leaves.

#include "bawn/sandbox/launcher.hpp"

#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/writable_pipe.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>

namespace bawn::sandbox {
namespace {

namespace asio = boost::asio;
namespace process = boost::process::v2;
using testing::HasSubstr;

class LauncherTest : public ::testing::Test {
 protected:
  [[nodiscard]] Launcher launcher(const char* name = "workspace-write") const {
    return Launcher(
        {.policy = *preset(name), .workspace = workspace_.path().string(), .program = BAWN_WARDEN});
  }
  /// Everything until the command closes its end.
  static std::string read_all(asio::readable_pipe& pipe) {
    std::string text;
    boost::system::error_code error;
    asio::read(pipe, asio::dynamic_buffer(text), error);
    return text;
  }
  /// Descriptors of this process by number.
  static std::set<std::string> descriptors() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  test::TempDir workspace_;
  asio::io_context context_;
  boost::system::error_code error_;
};

TEST_F(LauncherTest, ACommandHasItsStreamsAndItsExitStatusIsTheHandles) {
  asio::readable_pipe out(context_);
  asio::writable_pipe in(context_);
  auto walled = launcher();
  contract::Confinement report;
  process::process_stdio streams{in, out, nullptr};
  auto child = walled(context_, error_, "sh", {"-c", "tr a-z A-Z; exit 7"}, streams,
                      ConfinementInto{report});
  ASSERT_FALSE(error_) << error_.message();
  streams = {};
  EXPECT_TRUE(report.confirmed);
  EXPECT_EQ(report.policy, "workspace-write");
  asio::write(in, asio::buffer(std::string_view("hello")));
  in.close();
  EXPECT_EQ(child.wait(), 7);
}

TEST_F(LauncherTest, TheEndOfTheOutputIsSeenAndAsyncWaitCompletes) {
  asio::readable_pipe out(context_);
  auto walled = launcher();
  auto child = [&] {
    return walled(context_, error_, "sh", {"-c", "echo out; exit 3"},
                  process::process_stdio{nullptr, out, nullptr});
  }();
  ASSERT_FALSE(error_) << error_.message();
  EXPECT_EQ(read_all(out), "out\n");
  int code = -1;
  child.async_wait([&](boost::system::error_code failed, int ended) {
    EXPECT_FALSE(failed);
    code = ended;
  });
  context_.run();
  EXPECT_EQ(code, 3);
}

TEST_F(LauncherTest, ASignalThatEndsTheCommandEndsTheHandleTheSameWay) {
  auto walled = launcher();
  auto child = walled(context_, error_, "sh", {"-c", "kill -SEGV $$"});
  ASSERT_FALSE(error_) << error_.message();
  child.wait(error_);
  ASSERT_TRUE(WIFSIGNALED(child.native_exit_code())) << child.native_exit_code();
  EXPECT_EQ(WTERMSIG(child.native_exit_code()), SIGSEGV);
}

TEST_F(LauncherTest, InterruptAndRequestExitReachTheCommandItself) {
  asio::readable_pipe out(context_);
  auto walled = launcher();
  auto child = walled(context_, error_, "sh",
                      {"-c",
                       "trap 'echo int' INT; trap 'echo term; exit 5' TERM; echo ready; "
                       "sleep 600 & while :; do wait; done"},
                      process::process_stdio{nullptr, out, nullptr});
  ASSERT_FALSE(error_) << error_.message();
  std::string text;
  asio::read_until(out, asio::dynamic_buffer(text), "ready\n");
  child.interrupt();
  asio::read_until(out, asio::dynamic_buffer(text), "int\n");
  child.request_exit();
  EXPECT_EQ(child.wait(), 5);
}

TEST_F(LauncherTest, TerminateEndsEverythingBehindTheWall) {
  asio::readable_pipe out(context_);
  auto walled = launcher();
  auto child = walled(context_, error_, "sh", {"-c", "setsid sleep 600 & echo ready; sleep 600"},
                      process::process_stdio{nullptr, out, nullptr});
  ASSERT_FALSE(error_) << error_.message();
  std::string text;
  asio::read_until(out, asio::dynamic_buffer(text), "ready\n");
  child.terminate(error_);
  // What was left running would hold the pipe open.
  EXPECT_EQ(read_all(out), "");
  child.wait(error_);
  EXPECT_EQ(WTERMSIG(child.native_exit_code()), SIGKILL);
}

TEST_F(LauncherTest, WhatTheCommandLeavesRunningEndsWithIt) {
  asio::readable_pipe out(context_);
  auto walled = launcher();
  auto child = walled(context_, error_, "sh", {"-c", "setsid sleep 600 & echo started"},
                      process::process_stdio{nullptr, out, nullptr});
  ASSERT_FALSE(error_) << error_.message();
  EXPECT_EQ(read_all(out), "started\n");
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(LauncherTest, TheWallIsThere) {
  BAWN_REQUIRE("landlock");
  test::TempDir outside;
  std::filesystem::permissions(outside.path(), std::filesystem::perms::all);
  const auto file = (outside.path() / "made").string();
  auto walled = launcher();
  auto child = walled(context_, error_, "sh", {"-c", "echo x > inside && echo x > \"$0\"", file},
                      process::process_stdio{nullptr, nullptr, nullptr},
                      process::process_start_dir(workspace_.path().string()));
  ASSERT_FALSE(error_) << error_.message();
  EXPECT_NE(child.wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(std::filesystem::exists(workspace_.path() / "inside"));
}

TEST_F(LauncherTest, FailuresComeThroughTheErrorCodeAndLeaveNothing) {
  auto walled = launcher();
  auto warm = walled(context_, error_, "true", {});
  warm.wait(error_);
  const auto before = descriptors();
  contract::Error reason(ErrorCode::Internal, "none");
  auto missing = walled(context_, error_, "/no/such/program", {}, ErrorInto{reason});
  EXPECT_EQ(error_.value(), ENOENT);
  EXPECT_FALSE(missing.is_open());
  EXPECT_THAT(reason.message(), HasSubstr("/no/such/program"));
  (void)walled(context_, error_, workspace_.write("plain", "text").string(), {});
  EXPECT_EQ(error_.value(), EACCES);
  (void)walled(context_, error_, "true", {}, process::process_start_dir("/no/such/directory"));
  EXPECT_EQ(error_.value(), ENOENT);
  (void)walled(context_, error_, std::string("a\0b", 3), {});
  EXPECT_EQ(error_.value(), EINVAL);
  (void)walled(context_, error_, "true", {},
               process::process_stdio{std::filesystem::path("/no/such"), nullptr, nullptr});
  EXPECT_EQ(error_.value(), EBADF);
  EXPECT_THROW((void)walled(context_, "/no/such/program", {}), boost::system::system_error);
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was left";
}

TEST_F(LauncherTest, NoDescriptorButTheThreeEnters) {
  const int leaked = ::open("/etc/hostname", O_RDONLY);  // a host program's own, not close-on-exec
  ASSERT_GE(leaked, 0);
  asio::readable_pipe out(context_);
  auto walled = launcher();
  auto child = walled(context_, error_, "ls", {"/proc/self/fd"},
                      process::process_stdio{nullptr, out, nullptr});
  ASSERT_FALSE(error_) << error_.message();
  EXPECT_EQ(read_all(out), "0\n1\n2\n3\n");  // 3 is the directory that it lists
  child.wait(error_);
  ::close(leaked);
}

TEST_F(LauncherTest, TheEnvironmentIsThePolicysOrTheOneThatIsGiven) {
  ::setenv("MY_API_TOKEN", "secret", 1);
  asio::readable_pipe out(context_);
  auto walled = launcher();
  auto child = walled(context_, error_, "sh", {"-c", "echo \"[$MY_API_TOKEN]$HOME\""},
                      process::process_stdio{nullptr, out, nullptr});
  ASSERT_FALSE(error_) << error_.message();
  EXPECT_THAT(read_all(out), HasSubstr("[]/"));
  child.wait(error_);
  asio::readable_pipe given(context_);
  auto other = walled(context_, error_, "sh", {"-c", "echo \"[$MY_API_TOKEN]$HOME\""},
                      process::process_environment({"MY_API_TOKEN=named", "HOME=/x"}),
                      process::process_stdio{nullptr, given, nullptr});
  ASSERT_FALSE(error_) << error_.message();
  EXPECT_EQ(read_all(given), "[named]/x\n");
  other.wait(error_);
  ::unsetenv("MY_API_TOKEN");
}

TEST_F(LauncherTest, AHostInTheListIsReachedThroughTheProxyOfTheLauncher) {
  BAWN_REQUIRE("user-namespaces");
  BAWN_REQUIRE("python3");
  Policy policy = *preset("workspace-net");
  policy.hosts = {"nowhere.invalid"};
  Launcher walled(
      {.policy = policy, .workspace = workspace_.path().string(), .program = BAWN_WARDEN});
  asio::readable_pipe out(context_);
  auto child = walled(
      context_, error_, "python3",
      {"-c",
       "import socket\n"
       "s = socket.create_connection(('127.0.0.1', 41080))\n"
       "s.sendall(b'CONNECT other.invalid:443 HTTP/1.1\\r\\nHost: other.invalid:443\\r\\n\\r\\n')\n"
       "print(s.recv(100).split(b'\\r\\n')[0].decode())"},
      process::process_stdio{nullptr, out, nullptr});
  ASSERT_FALSE(error_) << error_.message();
  EXPECT_THAT(read_all(out), HasSubstr("403"));
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(LauncherTest, WithoutNamespacesItIsTheSameAndTheTemporaryDirectoryGoes) {
  BAWN_REQUIRE("landlock");
  Policy policy = *preset("workspace-write");
  policy.namespaces = LayerMode::Off;
  policy.best_effort = true;
  asio::readable_pipe out(context_);
  std::string tmp;
  {
    Launcher walled(
        {.policy = policy, .workspace = workspace_.path().string(), .program = BAWN_WARDEN});
    auto child = walled(
        context_, error_, "sh",
        {"-c", "trap 'exit 9' TERM; setsid sleep 600 & echo $TMPDIR; while :; do wait; done"},
        process::process_stdio{nullptr, out, nullptr});
    ASSERT_FALSE(error_) << error_.message();
    asio::read_until(out, asio::dynamic_buffer(tmp), "\n");
    tmp.pop_back();
    EXPECT_TRUE(std::filesystem::exists(tmp)) << tmp;
    child.request_exit();
    EXPECT_EQ(child.wait(), 9);
    EXPECT_EQ(read_all(out), "");
  }
  EXPECT_FALSE(std::filesystem::exists(tmp));
}

}  // namespace
}  // namespace bawn::sandbox
