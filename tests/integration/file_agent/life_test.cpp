// The agent as a process: who sees it, who can end it, and what then.
#include "bawn/os/pidfd.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/procfs.hpp"
#include "walled_files.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

namespace {

using namespace std::chrono_literals;
using bawn::contract::Context;
using bawn::contract::ErrorCode;
using bawn::sandbox::FileAgent;
using bawn::sandbox::FileFailure;
using bawn::test::kind_of;
using Kind = FileFailure::Kind;

class FileAgentLifeTest : public bawn::test::WalledFiles {
 protected:
  void SetUp() override {
    WalledFiles::SetUp();
    if (!HasFatalFailure() && !IsSkipped()) {
      put(in("a"), "x");
      ASSERT_TRUE(files_->open(now_, in("a")));
    }
  }
  /// Host numbers; the agents are the warden's only children here.
  [[nodiscard]] std::vector<int> agents() const { return bawn::os::children(wall_.warden->pid()); }
  static Context within(std::chrono::milliseconds limit) {
    return Context().with_deadline(Context::Clock::now() + limit);
  }
  /// Shell text that does something to each agent ($p), as seen from inside.
  static std::string for_each_agent(const std::string& what) {
    return "for d in /proc/[0-9]*; do p=${d#/proc/}; "
           "[ \"$(cat $d/comm 2>/dev/null)\" = bawn-warden ] && [ $p != 1 ] && { " +
           what + "; }; done";
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, FileAgentLifeTest,
                         testing::Values(bawn::test::kAllLayers, bawn::test::kLandlock,
                                         bawn::test::kNoLayer),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(FileAgentLifeTest, StartsWithTheFirstRequestAndServesThemAll) {
  ASSERT_EQ(agents().size(), 1U);
  const int first = agents().front();
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(files_->open(now_, in("a")));
  }
  EXPECT_EQ(agents(), std::vector{first});
}

TEST_P(FileAgentLifeTest, IsNoProcessOfTheSessionsCalls) {
  const auto before = agents();
  const auto tree = wall_.warden->tree();
  ASSERT_TRUE(tree);
  EXPECT_TRUE(tree->empty());
  EXPECT_EQ(*wall_.warden->signal({}, SIGKILL), 0);
  bawn::sandbox::SignalTarget one;
  one.kind = bawn::sandbox::SignalTarget::Kind::Process;
  one.id = before.front();
  EXPECT_EQ(*wall_.warden->signal(one, SIGKILL), 0);
  EXPECT_TRUE(files_->open(now_, in("a")));
  EXPECT_EQ(agents(), before);
}

TEST_P(FileAgentLifeTest, KeepsNothingOfTheWardensOwn) {
  BAWN_REQUIRE("root");
  // A file that it sent on is closed by the time that it answers the next request.
  ASSERT_TRUE(files_->status(now_, in("a"), FileAgent::Links::Keep));
  std::vector<int> numbers;
  const auto directory = fmt::format("/proc/{}/fd", agents().front());
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const int number = std::stoi(entry.path().filename());
    const std::string target = std::filesystem::read_symlink(entry.path());
    EXPECT_TRUE(target == "/dev/null" || (number == 4 && target.starts_with("socket:")) ||
                GetParam().name != std::string("AllLayers"))
        << number << " " << target;
    numbers.push_back(number);
  }
  EXPECT_GE(numbers.size(), 5U);
}

TEST_P(FileAgentLifeTest, KilledOneIsReplaced) {
  const auto before = agents();
  ASSERT_EQ(::kill(before.front(), SIGKILL), 0);
  const auto opened = files_->open(now_, in("a"));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_NE(agents(), before);
  const auto written = write(in("a"), "y");
  EXPECT_TRUE(written) << written.error().message();
}

TEST_P(FileAgentLifeTest, FromInsideItIsKilledAtMostAndNeverRead) {
  const auto before = agents();
  const std::string seen = shell(for_each_agent(
      "cat $d/environ $d/maps >/dev/null 2>&1 && echo read; (: <$d/mem) 2>/dev/null && echo mem; "
      "ls $d/fd >/dev/null 2>&1 && echo fd"));
  EXPECT_EQ(seen, "");
  EXPECT_THAT(shell("cat /proc/$$/environ >/dev/null && echo own"), "own\n");  // control
  if (GetParam().name == std::string("NoLayer")) {
    return;  // there the warden itself could be hit
  }
  shell(for_each_agent("kill -9 $p"));
  const auto opened = files_->open(now_, in("a"));
  EXPECT_TRUE(opened) << opened.error().message();
  // Landlock's scope keeps signals off; in a PID namespace the agent is one of its processes.
  EXPECT_EQ(agents() == before, GetParam().name == std::string("Landlock"));
}

TEST_P(FileAgentLifeTest, OneThatHangsHindersNobodyAndIsReplaced) {
  const auto stuck = bawn::os::Pidfd::open(agents().front());
  ASSERT_TRUE(stuck);
  ASSERT_TRUE(stuck->signal(SIGSTOP));  // as one that waits for a dead mount
  // One of the two gets the stopped agent; the other one a new one.
  std::array<bool, 2> served{};
  const auto ask = [&](bool& answered) {
    const auto opened = files_->open(within(1s), in("a"));
    answered = opened.has_value();
    if (!opened) {
      EXPECT_EQ(opened.error().code(), ErrorCode::DeadlineExceeded);
      EXPECT_EQ(kind_of(opened.error()), Kind::Late);
    }
  };
  std::thread other([&] { ask(served[0]); });
  ask(served[1]);
  EXPECT_TRUE(wall_.warden->signal({}, SIGTERM));
  other.join();
  EXPECT_NE(served[0], served[1]);
  EXPECT_TRUE(files_->open(now_, in("a")));
  EXPECT_TRUE(bawn::os::wait_readable(stuck->get(), within(5s)));  // it was ended
}

TEST_P(FileAgentLifeTest, AFifoKeepsNobodyWaiting) {
  ASSERT_EQ(::mkfifo(in("fifo").c_str(), 0666), 0);
  const auto opened = files_->open(within(5s), in("fifo"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(kind_of(opened.error()), Kind::NotRegular);
  EXPECT_TRUE(wall_.warden->signal({}, SIGTERM));
}

TEST_P(FileAgentLifeTest, ManyAskBesideEachOther) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([this, thread] {
      for (int round = 0; round < 30; ++round) {
        const std::string name = in(fmt::format("f{}", thread));
        ASSERT_TRUE(write(name, std::to_string(round), {.durable = false}));
        ASSERT_EQ(*read(name), std::to_string(round));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_LE(agents().size(), 4U);
}

TEST_P(FileAgentLifeTest, EndsWithTheSession) {
  const auto before = agents();
  wall_.warden->close();
  EXPECT_EQ(::kill(before.front(), 0), -1);
  const auto opened = files_->open(now_, in("a"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::Closed);
  EXPECT_EQ(wall_.warden->file_agent().error().code(), ErrorCode::Closed);
}

TEST(FileAgentForkedTest, AForkedWardenHasOneToo) {
  BAWN_REQUIRE("user-namespaces");
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer does not survive that fork";
#endif
  const bawn::test::TempDir workspace;
  workspace.write("a", "x");
  bawn::sandbox::WallRequest request;
  request.policy = *bawn::sandbox::preset("workspace-write");
  request.workspace = workspace.path();
  request.warden.fork_stub = true;
  const auto wall = bawn::sandbox::raise_wall(request);
  ASSERT_TRUE(wall) << wall.error().message();
  const auto files = wall->warden->file_agent();
  ASSERT_TRUE(files) << files.error().message();
  EXPECT_TRUE((*files)->open(Context(), workspace.path() / "a"));
  EXPECT_TRUE(wall->warden->tree()->empty());
}

}  // namespace
