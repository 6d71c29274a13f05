// P12-P14: outliving the command and bawn itself; and what a session leaves in an empty directory.
// Evidence is a FIFO whose other end all that was started holds open: its end is their end.
#include "bawn/os/unique_fd.hpp"
#include "support/peer_process.hpp"
#include "support/requirements.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace bawn::test {
namespace {

constexpr int kBroken = 60'000;  ///< ms that only a broken wall reaches

/// A daemon of two sessions, one below the other; each says its number once nothing stops it.
constexpr const char* kDaemon =
    "exec 5>fifo; setsid sh -c 'trap \"\" TERM HUP INT; "
    "setsid sh -c \"echo \\$\\$ >&5; exec sleep 1000\" & echo $$ >&5; exec sleep 1000' "
    "</dev/null >/dev/null 2>&1 & ";

class Outlive : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    BAWN_REQUIRE("landlock");
    BAWN_REQUIRE("user-namespaces");
    ASSERT_EQ(::mkfifo((workspace() + "/fifo").c_str(), 0600), 0);
    alive_.reset(::open((workspace() + "/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(alive_.is_open());
  }
  [[nodiscard]] std::string workspace() const { return base_.path().string(); }
  [[nodiscard]] bool all_ended(int timeout_ms) const {
    pollfd waiting = {alive_.get(), 0, 0};
    return ::poll(&waiting, 1, timeout_ms) == 1 && (waiting.revents & POLLHUP) != 0;
  }
  /// What the two of a daemon said, once both have.
  [[nodiscard]] std::vector<pid_t> daemon() const {
    std::string said;
    while (std::count(said.begin(), said.end(), '\n') < 2) {
      pollfd waiting = {alive_.get(), POLLIN, 0};
      char part[64];
      const bool ready = ::poll(&waiting, 1, kBroken) == 1;
      const ssize_t length = ready ? ::read(alive_.get(), part, sizeof part) : -1;
      if (length <= 0) {
        return {};
      }
      said.append(part, static_cast<std::size_t>(length));
    }
    char* second = nullptr;
    const long first = std::strtol(said.c_str(), &second, 10);
    return {static_cast<pid_t>(first), static_cast<pid_t>(std::strtol(second, nullptr, 10))};
  }
  contract::Result<PeerProcess> start(const std::string& script) {
    return PeerProcess::start({BAWN_PROGRAM, "run", "--workspace", workspace(), "--", "/bin/sh",
                               "-c", "cd " + workspace() + "; " + script},
                              {std::string("BAWN_FEATURES_OFF=") + GetParam()});
  }

  TempDir base_{"/var/tmp"};
  os::UniqueFd alive_;
};

TEST_P(Outlive, P12_ADaemonEndsWithItsCommand) {
  // The control: without the wall it stays.
  const auto control = run_program({.argv = {"/bin/sh", "-c", kDaemon}, .directory = workspace()});
  ASSERT_EQ(control.exit_code, 0) << control.err;
  const std::vector<pid_t> stayed = daemon();
  ASSERT_EQ(stayed.size(), 2U);
  EXPECT_FALSE(all_ended(0));
  for (const pid_t pid : stayed) {
    ASSERT_GT(pid, 1);
    EXPECT_EQ(::kill(pid, SIGKILL), 0);
  }
  ASSERT_TRUE(all_ended(kBroken)) << "the control's processes stayed";

  const auto run =
      run_program({.argv = {BAWN_PROGRAM, "run", "--workspace", workspace(), "--", "/bin/sh", "-c",
                            "cd " + workspace() + "; " + kDaemon + "echo started"},
                   .env = {{"BAWN_FEATURES_OFF", GetParam()}}});
  EXPECT_EQ(run.out, "started\n") << run.err;
  EXPECT_TRUE(all_ended(kBroken));
}

TEST_P(Outlive, P13_NothingOutlivesATerminatedBawn) {
  auto run = start(std::string(kDaemon) + "echo started; exec sleep 1000");
  ASSERT_TRUE(run) << run.error().message();
  ASSERT_EQ(run->read_line().value_or(""), "started");
  EXPECT_EQ(daemon().size(), 2U);
  EXPECT_FALSE(all_ended(0));
  ASSERT_EQ(::kill(run->pid(), SIGTERM), 0);
  EXPECT_TRUE(all_ended(kBroken));
}

TEST_P(Outlive, P14_NothingOutlivesAKilledBawn) {
  auto run = start(std::string(kDaemon) + "echo started; exec sleep 1000");
  ASSERT_TRUE(run) << run.error().message();
  ASSERT_EQ(run->read_line().value_or(""), "started");
  EXPECT_EQ(daemon().size(), 2U);
  EXPECT_FALSE(all_ended(0));
  ASSERT_EQ(::kill(run->pid(), SIGKILL), 0);
  EXPECT_TRUE(all_ended(kBroken));
}

INSTANTIATE_TEST_SUITE_P(Wall, Outlive, testing::Values("", "namespaces", "landlock"),
                         [](const auto& tested) {
                           return tested.param[0] == '\0' ? std::string("AllLayers")
                                                          : std::string("No_") + tested.param;
                         });

/// Also the times: a file that was made and removed again would show.
std::string look_at(const std::string& directory) {
  struct stat found{};
  EXPECT_EQ(::stat(directory.c_str(), &found), 0);
  return fmt::format("mode {:o} owner {}:{} entries {} changed {}.{:09}", found.st_mode,
                     found.st_uid, found.st_gid, run_program({.argv = {"ls", "-A", directory}}).out,
                     found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

class EmptyDirectory : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    BAWN_REQUIRE("landlock");
    BAWN_REQUIRE("user-namespaces");
  }
  TempDir base_{"/var/tmp"};
  std::string before_ = look_at(base_.path());
  std::vector<std::string> features_ = {std::string("BAWN_FEATURES_OFF=") + GetParam()};
};

TEST_P(EmptyDirectory, IsUnchangedAfterTrueAndAfterADenial) {
  const std::string script =
      fmt::format("true; touch {0}/../nothing-here /etc/nothing-here; true", base_.path().string());
  const auto run = run_program(
      {.argv = {BAWN_PROGRAM, "run", "--workspace", base_.path(), "--", "/bin/sh", "-c", script},
       .env = {{"BAWN_FEATURES_OFF", GetParam()}}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, testing::AnyOf(testing::HasSubstr("Permission denied"),
                                      testing::HasSubstr("Read-only file system")));
  EXPECT_EQ(look_at(base_.path()), before_);
}

TEST_P(EmptyDirectory, IsUnchangedAfterTheServersDeath) {
  const std::vector<std::string> argv = {BAWN_PROGRAM, "mcp", "--workspace", base_.path()};
  auto server = McpPeer::connect(argv, features_);
  ASSERT_TRUE(server) << server.error().message();
  ASSERT_TRUE(server->call_tool("bash", R"({"command": "touch /etc/nothing-here; true"})"));
  ASSERT_TRUE(server->call_tool("exec", R"({"argv": ["true"]})"));
  ASSERT_EQ(::kill(server->pid(), SIGKILL), 0);
  ASSERT_FALSE(server->call_tool("bash", R"({"command": "true"})")) << "it is gone";
  EXPECT_EQ(look_at(base_.path()), before_);
}

INSTANTIATE_TEST_SUITE_P(Wall, EmptyDirectory, testing::Values("", "namespaces", "landlock"),
                         [](const auto& tested) {
                           return tested.param[0] == '\0' ? std::string("AllLayers")
                                                          : std::string("No_") + tested.param;
                         });

}  // namespace
}  // namespace bawn::test
