#include "bawn/os/pidfd.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/procfs.hpp"
#include "plans.hpp"
#include "support/numbered_process.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

namespace {

using namespace std::chrono_literals;
using bawn::contract::Context;
using bawn::sandbox::Child;
using bawn::sandbox::ProcessInfo;
using bawn::sandbox::SignalTarget;
using bawn::sandbox::Warden;
using bawn::test::TempDir;
using Kind = SignalTarget::Kind;

/// Every test runs in both shapes: with a PID namespace and by the subreaper alone.
class WallSignalTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      BAWN_REQUIRE("user-namespaces");
      ::chmod(workspace_.path().c_str(), 0777);
      warden_ = bawn::test::start(bawn::test::namespace_plan(workspace_.path(), 1234));
    } else {
      warden_ = bawn::test::start(bawn::test::bare_plan());
    }
    ASSERT_NE(warden_, nullptr);
  }

  /// Starts a shell text and returns once it has written a line to its output.
  std::unique_ptr<Child> start_shell(const std::string& text, const std::string& call = {}) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const bawn::os::UniqueFd reader(ends[0]);
    auto order = bawn::test::spec({"bash", "-c", text});
    order.call = call;
    order.cwd = workspace_.path();
    order.standard_output = bawn::os::UniqueFd(ends[1]);
    auto child = warden_->spawn(std::move(order));
    if (!child || !(*child)->go()) {
      ADD_FAILURE() << "no child";
      return nullptr;
    }
    char byte = 0;
    while (::read(reader.get(), &byte, 1) == 1 && byte != '\n') {
    }
    return std::move(*child);
  }

  static Context within(std::chrono::milliseconds limit) {
    return Context().with_deadline(Context::Clock::now() + limit);
  }

  int signal(const SignalTarget& target, int number) {
    const auto reached = warden_->signal(target, number);
    EXPECT_TRUE(reached) << (reached ? "" : reached.error().message());
    return reached.value_or(-1);
  }

  std::vector<ProcessInfo> tree() {
    auto found = warden_->tree();
    EXPECT_TRUE(found) << (found ? "" : found.error().message());
    return found ? *std::move(found) : std::vector<ProcessInfo>{};
  }

  std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const ProcessInfo& process : tree()) {
      if (process.state != 'Z') {
        found.push_back(process.name);
      }
    }
    return found;
  }

  /// Returns once that many processes of the name run; the test's time limit bounds it.
  void await(const std::string& name, std::ptrdiff_t number) {
    while (std::ranges::count(names(), name) < number) {
    }
  }

  void await_none(const std::string& name) {
    while (std::ranges::count(names(), name) > 0) {
    }
  }

  std::uint64_t first_start(const std::string& name) {
    std::uint64_t first = UINT64_MAX;
    for (const ProcessInfo& process : tree()) {
      first = process.name == name ? std::min(first, process.start_time) : first;
    }
    return first;
  }

  std::uint64_t last_start(const std::string& name) {
    std::uint64_t last = 0;
    for (const ProcessInfo& process : tree()) {
      last = process.name == name ? std::max(last, process.start_time) : last;
    }
    return last;
  }

  static bool first_thread_runs(int pid) {
    const auto text = bawn::os::read_proc_file("/proc/" + std::to_string(pid) + "/stat");
    return text && text->find(") Z ") == std::string::npos;
  }

  TempDir workspace_;
  std::shared_ptr<Warden> warden_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, WallSignalTest, testing::Values(true, false),
                         [](const auto& shape) {
                           return shape.param ? "PidNamespace" : "Subreaper";
                         });

TEST_P(WallSignalTest, GroupReachesAllItsMembersOnly) {
  const auto child = start_shell("sleep 100 & sleep 100 & echo; wait");
  const auto other = start_shell("echo; exec sleep 100");
  SignalTarget target{Kind::Group, child->inside_pid(), {}, 0, 0};
  EXPECT_EQ(signal(target, SIGTERM), 3);
  EXPECT_EQ((*child).wait(within(5s))->signal, SIGTERM);
  EXPECT_FALSE(other->status());
}

TEST_P(WallSignalTest, ProcessReachesThatOneOnly) {
  const auto child = start_shell("trap '' TERM; sleep 100 & echo; wait $!; exit 5");
  await("sleep", 1);
  int sleeper = 0;
  for (const ProcessInfo& process : tree()) {
    sleeper = process.name == "sleep" ? process.inside_pid : sleeper;
  }
  EXPECT_EQ(signal({Kind::Process, sleeper, {}, 0, 0}, SIGKILL), 1);
  EXPECT_EQ((*child).wait(within(5s))->code, 5);
}

TEST_P(WallSignalTest, StoppedProcessActsOnTerm) {
  const auto child = start_shell("echo; kill -STOP $$; exit 9");
  for (char state = 0; state != 'T';) {
    for (const ProcessInfo& process : tree()) {
      state = process.inside_pid == child->inside_pid() ? process.state : state;
    }
  }
  EXPECT_EQ(signal({Kind::Group, child->inside_pid(), {}, 0, 0}, SIGTERM), 1);
  EXPECT_EQ((*child).wait(within(5s))->signal, SIGTERM);
}

TEST_P(WallSignalTest, CallIsFoundThroughSetsidDoubleForkAndClearedEnvironment) {
  const auto keeper = start_shell("echo; exec sleep 1000", "other");
  const auto child = start_shell(
      "setsid sleep 101 & (sleep 102 & ) & (env -i setsid sleep 103 & ) & echo; "
      "exec sleep 104",
      "mine");
  await("sleep", 5);
  await_none("bash");  // the shells between are gone
  const SignalTarget target{Kind::Call, 0, "mine", child->start_time(), 0};
  EXPECT_EQ(signal(target, SIGKILL), 4);
  EXPECT_EQ((*child).wait(within(5s))->signal, SIGKILL);
  EXPECT_FALSE(keeper->status());
  EXPECT_EQ(signal(target, SIGKILL), 0);
}

TEST_P(WallSignalTest, SubshellOfTheKeptShellBelongsToTheCall) {
  const auto shell = start_shell(
      "(while :; do :; done) & ( (while :; do :; done) & ) ; BAWN_CALL=s.2 sleep 101 & echo; wait; "
      "exit 6",
      "s.shell");
  await("sleep", 1);
  await("bash", 3);
  const SignalTarget target{Kind::Call, 0, "s.2", shell->start_time(), shell->inside_pid()};
  EXPECT_EQ(signal(target, SIGKILL), 3);
  EXPECT_EQ((*shell).wait(within(5s))->code, 6);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_P(WallSignalTest, RewrittenMarkerDoesNotLeaveTheCall) {
  const auto shell = start_shell(
      "BAWN_CALL=other.1 setsid sleep 101 & (BAWN_CALL=s.1 setsid sleep 102 &) ; "
      "BAWN_CALL=s.2 bash -c 'BAWN_CALL=s.1 sleep 103; :' & echo; wait; exit 6",
      "s.shell");
  await("sleep", 3);
  const SignalTarget target{Kind::Call, 0, "s.2", first_start("sleep") - 1, shell->inside_pid()};
  EXPECT_EQ(signal(target, SIGKILL), 4);
  EXPECT_EQ((*shell).wait(within(5s))->code, 6);
}

TEST_P(WallSignalTest, JobsOfEarlierCallsAreSpared) {
  const auto shell = start_shell(
      "BAWN_CALL=s.1 sleep 101 & (while :; do env BAWN_CALL=s.1 sleep 102; done) & echo; wait",
      "s.shell");
  await("sleep", 2);
  // Started within the later call's first tick, and before it.
  SignalTarget target{Kind::Call, 0, "s.2", last_start("sleep") + 1, shell->inside_pid()};
  EXPECT_EQ(signal(target, SIGKILL), 0);
  target.not_before = first_start("sleep");
  target.call = "s.1";
  EXPECT_GE(signal(target, SIGKILL), 1);  // control: as their own call's they are reached
}

TEST_P(WallSignalTest, JobOfTheSameTickIsTheEarlierCalls) {
  const auto shell = start_shell("BAWN_CALL=s.1 sleep 101 & echo; wait", "s.shell");
  await("sleep", 1);
  SignalTarget target{Kind::Call, 0, "s.2", first_start("sleep"), shell->inside_pid()};
  EXPECT_EQ(signal(target, SIGKILL), 0);
  --target.not_before;  // control: a tick later the marker alone does not save it
  EXPECT_EQ(signal(target, SIGKILL), 1);
}

TEST_P(WallSignalTest, CallsThatRunBesideEachOtherAreToldApart) {
  const auto shell = start_shell("(BAWN_CALL=s.1 setsid sleep 101 &) ; echo; read", "s.shell");
  const auto beside = start_shell("(setsid sleep 102 &) ; echo; exec sleep 103", "s.2");
  await("sleep", 3);
  const std::uint64_t early = first_start("sleep") - 1;
  EXPECT_EQ(signal({Kind::Call, 0, "s.1", early, shell->inside_pid()}, SIGKILL), 1);
  EXPECT_FALSE(beside->status());
  const auto again = start_shell("(BAWN_CALL=s.3 setsid sleep 104 &) ; echo; read", "s.shell");
  await("sleep", 3);
  EXPECT_EQ(signal({Kind::Call, 0, "s.2", early, 0}, SIGKILL), 2);
  EXPECT_EQ(std::ranges::count(names(), "sleep"), 1);
}

TEST_P(WallSignalTest, ProcessWhoseFirstThreadHasLeftIsReached) {
  BAWN_REQUIRE("python3");
  const auto child = start_shell(
      "exec python3 -c 'import ctypes, threading, time\n"
      "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
      "print(flush=True)\n"
      "ctypes.CDLL(None).pthread_exit(None)'",
      "s.1");
  while (first_thread_runs(child->pid())) {
  }
  EXPECT_EQ(signal({Kind::Call, 0, "s.1", child->start_time(), 0}, SIGKILL), 1);
  EXPECT_EQ((*child).wait(within(5s))->signal, SIGKILL);
}

TEST_P(WallSignalTest, ForkingCrowdIsEndedWhole) {
  const auto child = start_shell("f() { while :; do sleep 100 & done; }; f & f & echo; f", "crowd");
  await("sleep", 3);
  EXPECT_GT(signal({Kind::Call, 0, "crowd", child->start_time(), 0}, SIGKILL), 2);
  ASSERT_TRUE((*child).wait(within(5s)));
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_P(WallSignalTest, SessionSparesTheKeptProcess) {
  const auto kept = start_shell("sleep 100 & echo; wait $!");
  const auto gone = start_shell("echo; exec sleep 100");
  EXPECT_EQ(signal({Kind::Session, 0, {}, 0, kept->inside_pid()}, SIGKILL), 2);
  EXPECT_EQ((*gone).wait(within(5s))->signal, SIGKILL);
  EXPECT_EQ((*kept).wait(within(5s))->code, 137);
}

TEST_P(WallSignalTest, TreeTellsBothNumbersAndTheCall) {
  const auto child = start_shell("echo; exec sleep 100", "marked");
  await("sleep", 1);
  const auto processes = tree();
  ASSERT_EQ(processes.size(), 1U);
  const ProcessInfo& process = processes.front();
  EXPECT_EQ(process.inside_pid, child->inside_pid());
  EXPECT_EQ(process.pid, child->pid());
  EXPECT_EQ(process.parent, warden_->pid());
  EXPECT_EQ(process.start_time, child->start_time());
  EXPECT_EQ(process.start_time, *bawn::os::start_time(child->pid()));
  EXPECT_EQ(process.call, "marked");
  EXPECT_EQ(process.name, "sleep");
  EXPECT_EQ(process.pgid, child->inside_pid());
}

TEST_P(WallSignalTest, CloseEndsEverythingInside) {
  const auto child =
      start_shell("(setsid sleep 1000 &) ; trap '' TERM; echo; sleep 1000; sleep 1000");
  await("sleep", 2);
  std::vector<int> pids;
  for (const ProcessInfo& process : tree()) {
    pids.push_back(process.pid);
  }
  EXPECT_EQ(pids.size(), 3U);
  warden_->close();
  EXPECT_FALSE(warden_->alive());
  for (const int pid : pids) {
    EXPECT_FALSE(bawn::os::start_time(pid)) << pid;
  }
  EXPECT_TRUE((*child).wait(within(5s)).error().is(bawn::contract::ErrorCode::Closed));
}

TEST_P(WallSignalTest, CloseEndsEverythingThoughTheWardenIsStuck) {
  const auto child = start_shell("(setsid sleep 1000 &) ; trap '' TERM; echo; sleep 1000; :");
  await("sleep", 2);
  std::vector<bawn::os::Pidfd> held;
  for (const ProcessInfo& process : tree()) {
    held.push_back(*bawn::os::Pidfd::open(process.pid));
  }
  held.push_back(*bawn::os::Pidfd::open(warden_->pid()));
  held.push_back(*bawn::os::Pidfd::open(*bawn::os::parent_pid(warden_->pid())));  // the stub
  ASSERT_EQ(held.size(), 5U);
  ASSERT_TRUE(held[3].signal(SIGSTOP));
  warden_->close();
  for (const auto& process : held) {
    EXPECT_TRUE(process.exited()) << process.pid();
  }
}

TEST_P(WallSignalTest, SparesAStrangerWhoGotTheNumberOfWhatEnded) {
  BAWN_REQUIRE("root");
  const auto child = start_shell("echo; exec sleep 1000");
  const int number = child->pid();
  const int inside = child->inside_pid();
  const auto started = child->start_time();
  EXPECT_EQ(signal({Kind::Group, inside, {}, 0, 0}, SIGKILL), 1) << "the control";
  ASSERT_TRUE(child->wait(within(60s)));
  bawn::test::await_later_tick(started);
  const auto stranger = bawn::test::NumberedProcess::start(number);
  if (!stranger && (errno == EPERM || errno == ENOSYS)) {
    GTEST_SKIP() << "no process may choose its number here";
  }
  ASSERT_TRUE(stranger) << "the number " << number << " could not be had again";
  ::setpgid(stranger->pid(), 0);
  for (const auto& [kind, id] : {std::pair(Kind::Group, inside), std::pair(Kind::Process, inside),
                                 std::pair(Kind::Session, 0), std::pair(Kind::Group, number),
                                 std::pair(Kind::Process, number)}) {
    EXPECT_EQ(signal({kind, id, {}, 0, 0}, SIGKILL), 0);
  }
  warden_->close();
  EXPECT_TRUE(stranger->runs());
}

TEST_P(WallSignalTest, InsideCannotSignalTheWarden) {
  if (!GetParam()) {
    GTEST_SKIP() << "nothing protects the warden of a session without any wall";
  }
  const auto ran = bawn::test::run(*warden_, {"sh", "-c", "kill -9 1; kill -TERM 1; echo alive"});
  EXPECT_EQ(ran.out, "alive\n");
  EXPECT_TRUE(warden_->alive());
  // Control: it can signal its own.
  EXPECT_EQ(bawn::test::run(*warden_, {"sh", "-c", "sleep 100 & kill -9 $!; wait $!"}).status.code,
            137);
}

}  // namespace
