// Wardens over pipes: spawns, output, input, exits and signals as over a socket.
#include "relay_process.hpp"
#include "relay_session.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace bawn::test {
namespace {

using contract::ErrorCode;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace bawn::test
