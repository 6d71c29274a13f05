// Wardens over pipes: spawns, output, input, exits and signals as over a socket.
#include "relay_process.hpp"
#include "relay_session.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace bawn::test {
namespace {

using contract::ErrorCode;
using ::testing::HasSubstr;

class RelayEnd : public RelaySession, public ::testing::WithParamInterface<int> {};

TEST_F(RelaySession, SaysWhereItStands) {
  EXPECT_EQ(relay().place().pid, process_.pid());
  EXPECT_EQ(relay().place().uid, geteuid());
  EXPECT_FALSE(relay().place().kernel.empty());
  EXPECT_LE(std::abs(relay().place().clock_offset_ns), 60'000'000'000);
}

TEST_F(RelaySession, SpawnsWithExactOutputAndStatus) {
  const Ran ran = run({"sh", "-c", "printf 'a\\0b'; printf err >&2; exit 7"});
  EXPECT_EQ(ran.out, std::string("a\0b", 3));
  EXPECT_EQ(ran.err, "err");
  EXPECT_EQ(ran.status.code, 7);
  EXPECT_GT(ran.status.peak_rss_bytes, 0U);
  const Ran killed = run({"sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(killed.status.signal, SIGTERM);
  const Ran missing = run({"no-such-program"});
  EXPECT_EQ(missing.status.exec_errno, ENOENT);
}

TEST_F(RelaySession, NamesADirectoryThatIsNotThere) {
  sandbox::SpawnSpec spec;
  spec.argv = {"true"};
  spec.cwd = "/no/such";
  const auto child = warden_->spawn(std::move(spec));
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code(), ErrorCode::NotFound);
  EXPECT_THAT(child.error().message(), HasSubstr("/no/such"));
}

TEST_F(RelaySession, NothingExecutesBeforeGo) {
  const TempDir place;
  const std::string mark = place.path() / "mark";
  Started started = start({"touch", mark});
  EXPECT_GT(started.child->inside_pid(), 0);
  EXPECT_GT(started.child->start_time(), 0U);
  EXPECT_EQ(run({"test", "-e", mark}).status.code, 1);
  ASSERT_TRUE(started.child->go());
  EXPECT_EQ(started.child->wait(contract::Context())->code, 0);
  EXPECT_EQ(run({"test", "-e", mark}).status.code, 0);
  int dropped = 0;
  {
    const Started never = start({"touch", mark + "2"});
    dropped = never.child->inside_pid();
  }
  const auto runs = [&](const sandbox::ProcessInfo& process) {
    return process.inside_pid == dropped;
  };
  while (std::ranges::any_of(warden_->tree().value(), runs)) {
  }
  EXPECT_EQ(run({"test", "-e", mark + "2"}).status.code, 1);
}

TEST_F(RelaySession, InputComesByteExactAndEnds) {
  std::string bytes(300'000, '\0');
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] = static_cast<char>(at * 7 + at / 256);
  }
  const Ran ran = run({"cat"}, bytes);
  EXPECT_EQ(ran.out, bytes);
}

TEST_F(RelaySession, SignalsReachAGroupAndTheTreeShowsIt) {
  Started started =
      start({"sh", "-c", "trap 'echo caught; exit 3' TERM; echo ready; sleep 600 & wait"});
  ASSERT_TRUE(started.child->go());
  EXPECT_EQ(read_line(started.out), "ready");
  const auto tree = warden_->tree();
  ASSERT_TRUE(tree);
  EXPECT_TRUE(std::ranges::any_of(*tree, [&](const auto& process) {
    return process.inside_pid == started.child->inside_pid() &&
           process.start_time == started.child->start_time();
  }));
  const auto reached = warden_->signal({.kind = sandbox::SignalTarget::Kind::Group,
                                        .id = started.child->inside_pid(),
                                        .call = {},
                                        .not_before = 0,
                                        .keep_pid = 0},
                                       SIGTERM);
  ASSERT_TRUE(reached);
  EXPECT_GE(*reached, 1);
  EXPECT_EQ(started.child->wait(contract::Context())->code, 3);
}

TEST_F(RelaySession, AStreamThatNobodyReadsKeepsNoOtherWaiting) {
  constexpr std::size_t kMuch = 100'000'000;
  const std::string much = "head -c " + std::to_string(kMuch) + " /dev/zero";
  Started unread = start({"sh", "-c", much});
  ASSERT_TRUE(unread.child->go());
  EXPECT_EQ(run({"sh", "-c", much}).out.size(), kMuch);
  EXPECT_EQ(run({"sh", "-c", "exit 5"}).status.code, 5);
  // Its end is not told before what it printed can be read.
  EXPECT_FALSE(unread.child->status());
  EXPECT_EQ(read_to_end(unread.out).size(), kMuch);
  EXPECT_EQ(unread.child->wait(contract::Context())->code, 0);
}

TEST_F(RelaySession, AnExitComesAfterAllThatWasPrintedBeforeIt) {
  for (int round = 0; round < 20; ++round) {
    Started started = start({"sh", "-c", "sleep 60 & printf last; exit 2"});
    ASSERT_TRUE(started.child->go());
    ASSERT_EQ(started.child->wait(contract::Context())->code, 2);
    ASSERT_EQ(::fcntl(started.out.get(), F_SETFL, O_NONBLOCK), 0);
    EXPECT_EQ(read_to_end(started.out), "last") << "round " << round;
  }
}

TEST_F(RelaySession, SessionsBehindOneRelayAreApart) {
  auto other = open();
  ASSERT_NE(other, nullptr);
  Started there = start_in(*other, {"sleep", "600"});
  ASSERT_TRUE(there.child->go());
  EXPECT_EQ(run({"sh", "-c", "echo x"}).out, "x\n");
  const auto tree = warden_->tree();
  ASSERT_TRUE(tree);
  EXPECT_TRUE(std::ranges::none_of(
      *tree, [&](const auto& process) { return process.inside_pid == there.child->inside_pid(); }));
  other->close();
  EXPECT_FALSE(other->alive());
  EXPECT_FALSE(there.child->wait(contract::Context()));
  EXPECT_EQ(run({"sh", "-c", "echo y"}).out, "y\n");
}

TEST_F(RelaySession, TheEndOfThePipesEndsEverything) {
  // Its own session, deaf to what can be ignored, and no child of the warden's.
  Started deaf = start({"setsid", "sh", "-c",
                        "trap '' TERM INT HUP; echo $$; exec >/dev/null; while :; do :; done"});
  ASSERT_TRUE(deaf.child->go());
  auto held = os::Pidfd::open(std::stoi(read_line(deaf.out)));
  ASSERT_TRUE(held);
  process_.end();
  EXPECT_TRUE(os::wait_readable(held->get(), contract::Context()));
  EXPECT_FALSE(warden_->alive());
  const auto after = warden_->tree();
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code(), ErrorCode::Closed);
}

TEST_P(RelayEnd, TakesItsSessionsAlong) {
  Started started = start({"sleep", "600"});
  ASSERT_TRUE(started.child->go());
  auto held = os::Pidfd::open(started.child->inside_pid());
  ASSERT_TRUE(held);
  process_.signal(GetParam());
  const auto status = started.child->wait(contract::Context());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::Closed);
  EXPECT_TRUE(os::wait_readable(held->get(), contract::Context()));
  EXPECT_FALSE(relay().alive());
  EXPECT_THAT(relay().why_lost(), HasSubstr("gone"));
}

INSTANTIATE_TEST_SUITE_P(Signals, RelayEnd, ::testing::Values(SIGKILL, SIGTERM));

TEST_F(RelaySession, CommandsHaveTheUmaskThatTheRelayWasStartedWith) {
  const mode_t own = ::umask(0);
  (void)::umask(own);
  EXPECT_EQ(std::stoul(run({"sh", "-c", "umask"}).out, nullptr, 8), own);
}

TEST_F(RelaySession, RefusesAPlanThatNeedsDescriptorsBack) {
  sandbox::SessionPlan plan = plan_without_walls();
  plan.network.supervise = true;
  const auto refused = relay().start(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::Unsupported);
}

TEST_F(RelaySession, ATerminalIsMadeOnTheOtherSide) {
  auto ends = os::SocketPair::make();
  ASSERT_TRUE(ends);
  sandbox::SpawnSpec spec;
  spec.argv = {"sh", "-c",
               "test -t 0 -a -t 1 -a -t 2 && stty size && read x && echo got-$x; stty size"};
  spec.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  spec.cwd = "/";
  spec.standard_input = std::move(ends->far);
  spec.remote_terminal = {.columns = 91, .rows = 17};
  auto child = warden_->spawn(std::move(spec));
  ASSERT_TRUE(child) << child.error().message();
  ASSERT_TRUE((*child)->go());
  EXPECT_EQ(read_line(ends->near), "17 91\r");
  ASSERT_TRUE((*child)->resize({.columns = 30, .rows = 4}));
  ASSERT_EQ(::write(ends->near.get(), "word\n", 5), 5);
  EXPECT_EQ(read_to_end(ends->near), "word\r\ngot-word\r\n4 30\r\n");
  EXPECT_EQ((*child)->wait(contract::Context())->code, 0);
}

TEST_F(RelaySession, FilesAreWrittenReadAndRemovedThere) {
  const TempDir place;
  const std::string directory = place.path() / "session";
  ASSERT_TRUE(relay().make_session_directory(directory, geteuid(), getegid()));
  EXPECT_EQ(relay().make_session_directory(directory, geteuid(), getegid()).error().code(),
            ErrorCode::AlreadyExists);
  const std::string file = directory + "/r/text";
  const std::string bytes(3'000'000, 'x');
  ASSERT_TRUE(relay().write_file(file, 0600, bytes));
  EXPECT_EQ(read_file(file), bytes);
  EXPECT_EQ(relay().write_file(file, 0600, "y").error().code(), ErrorCode::AlreadyExists);
  EXPECT_EQ(relay().read_file(file, 1000).error().code(), ErrorCode::ResourceExhausted);
  const std::string small = directory + "/w/small";
  ASSERT_TRUE(relay().write_file(small, 0600, std::string_view("a\0b", 3)));
  EXPECT_EQ(relay().read_file(small, 1000).value(), std::string("a\0b", 3));
  ASSERT_EQ(::symlink(small.c_str(), (directory + "/w/link").c_str()), 0);
  EXPECT_FALSE(relay().read_file(directory + "/w/link", 1000));
  relay().remove_session_directory(directory);
  EXPECT_FALSE(relay().read_file(small, 1000));
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(Relay, SaysWhatAnswersInItsPlace) {
  const auto talk = [](std::string_view word) {
    auto to = *os::Pipe::make();
    auto from = *os::Pipe::make();
    EXPECT_EQ(::write(from.write.get(), word.data(), word.size()),
              static_cast<ssize_t>(word.size()));
    from.write.reset();
    auto relay = sandbox::Relay::connect(std::move(to.write), std::move(from.read));
    EXPECT_FALSE(relay);
    return relay ? ErrorCode::InvalidArgument : relay.error().code();
  };
  EXPECT_EQ(talk(""), ErrorCode::Closed);
  EXPECT_EQ(talk("Error: no such image, or something else of some length"), ErrorCode::Internal);
  const std::uint32_t other[] = {1, 0, 8, 0x4e575242, 99};
  EXPECT_EQ(talk({reinterpret_cast<const char*>(other), sizeof other}), ErrorCode::Unsupported);
}

}  // namespace
}  // namespace bawn::test
