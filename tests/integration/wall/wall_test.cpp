#include "plans.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

namespace {

using bawn::contract::ErrorCode;
using bawn::sandbox::MountStep;
using bawn::test::landlock_plan;
using bawn::test::namespace_plan;
using bawn::test::Ran;
using bawn::test::run;
using bawn::test::start;
using bawn::test::TempDir;
using testing::HasSubstr;

constexpr unsigned kNobody = 65534;

/// Runs one test of this program as another user, in a process of its own: the threads that serve
/// sessions would not survive a mere fork.
int run_as_nobody(const char* test) {
  const std::string filter = fmt::format("--gtest_filter={}", test);
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
        ::setresuid(kNobody, kNobody, kNobody) == 0) {
      ::execl("/proc/self/exe", "wall_integration_test", filter.c_str(),
              "--gtest_also_run_disabled_tests", nullptr);
    }
    ::_exit(125);
  }
  int status = -1;
  (void)::waitpid(pid, &status, 0);
  return status;
}

/// Writes inside and outside of the workspace, as both plans must hold it.
void expect_writes_held(bawn::sandbox::Warden& warden, const std::string& workspace,
                        const std::string& outside, const std::string& reason) {
  const Ran inside = run(warden, {"sh", "-c", fmt::format("echo x > {}/file", workspace)});
  EXPECT_EQ(inside.status.code, 0) << inside.err;  // control
  EXPECT_TRUE(std::filesystem::exists(workspace + "/file"));
  const Ran denied = run(warden, {"sh", "-c", fmt::format("echo x > {}/file", outside)});
  EXPECT_NE(denied.status.code, 0);
  EXPECT_THAT(denied.err, HasSubstr(reason));
  EXPECT_FALSE(std::filesystem::exists(outside + "/file"));
}

TempDir& open_to_all(TempDir& directory) {
  ::chmod(directory.path().c_str(), 0777);
  return directory;
}

TEST(WallTest, NamespacesHoldWritesOutside) {
  BAWN_REQUIRE("user-namespaces");
  TempDir workspace;
  const auto warden = start(namespace_plan(open_to_all(workspace).path(), 1234));
  ASSERT_NE(warden, nullptr);
  const TempDir control;  // below /tmp, which is private inside
  expect_writes_held(*warden, workspace.path(), "/var", "Read-only file system");
  const Ran tmp = run(*warden, {"ls", control.path()});
  EXPECT_NE(tmp.status.code, 0);
}

TEST(WallTest, LandlockHoldsWritesOutsideWithEacces) {
  BAWN_REQUIRE("landlock");
  TempDir workspace;
  TempDir outside;
  const auto warden = start(landlock_plan(workspace.path()));
  ASSERT_NE(warden, nullptr);
  expect_writes_held(*warden, workspace.path(), outside.path(), "Permission denied");
  EXPECT_THAT(warden->report().notes, testing::ElementsAre(HasSubstr("1 Landlock rule")));
  EXPECT_EQ(warden->report().layers[0].abi, 6);
}

TEST(WallTest, ScopeLayerKeepsTheWardenFromItsChildren) {
  BAWN_REQUIRE("landlock");
  TempDir workspace;
  const auto warden = start(landlock_plan(workspace.path()));
  ASSERT_NE(warden, nullptr);
  const Ran ran = run(
      *warden, {"sh", "-c",
                fmt::format("kill -9 {}; sleep 9 & kill -9 $!; wait $!; echo $?", warden->pid())});
  EXPECT_EQ(ran.out, "137\n") << ran.err;  // its own child it may kill
  EXPECT_THAT(ran.err, HasSubstr("Operation not permitted"));
  EXPECT_TRUE(warden->alive());
  EXPECT_EQ(*warden->signal({}, SIGTERM), 0);
}

TEST(WallTest, FailedStepIsNamedWithItsErrno) {
  BAWN_REQUIRE("user-namespaces");
  TempDir workspace;
  auto plan = namespace_plan(open_to_all(workspace).path(), 1234);
  plan.namespaces.mounts.push_back({MountStep::Kind::Tmpfs, "tmpfs", "/no/such/place", "", false});
  const auto warden = bawn::sandbox::Warden::start(plan, {});
  ASSERT_FALSE(warden);
  EXPECT_EQ(warden.error().code(), ErrorCode::Unsupported);
  EXPECT_THAT(warden.error().message(), testing::AllOf(HasSubstr("tmpfs on /no/such/place"),
                                                       HasSubstr("No such file or directory")));
}

TEST(WallTest, LayerThatThePlanDoesNotApplyIsNeverClaimed) {
  auto plan = bawn::test::bare_plan();
  plan.forecast.confined = true;
  plan.forecast.layers = {{}};
  plan.forecast.layers[0].name = "seccomp";
  plan.forecast.layers[0].applied = true;
  const auto warden = bawn::sandbox::Warden::start(plan, {});
  ASSERT_FALSE(warden);
  EXPECT_THAT(warden.error().message(), HasSubstr("seccomp"));
}

TEST(WallTest, MissingProgramIsNamed) {
  bawn::sandbox::Warden::Options options;
  options.program = "/no/such/bawn-warden";
  const auto warden = bawn::sandbox::Warden::start(bawn::test::bare_plan(), options);
  ASSERT_FALSE(warden);
  EXPECT_EQ(warden.error().code(), ErrorCode::NotFound);
  EXPECT_THAT(warden.error().message(), HasSubstr("/no/such/bawn-warden"));
}

TEST(WallTest, RootHasNoCapabilityInside) {
  BAWN_REQUIRE("root");
  BAWN_REQUIRE("user-namespaces");
  TempDir workspace;
  const auto warden = start(namespace_plan(open_to_all(workspace).path(), 0));
  ASSERT_NE(warden, nullptr);
  const Ran ran = run(*warden, {"sh", "-c",
                                "id -u; grep -E 'CapEff|CapBnd' /proc/self/status; "
                                "echo x > /proc/sys/kernel/core_pattern"});
  EXPECT_THAT(ran.out, testing::StartsWith("0\nCapEff:\t0000000000000000\n"
                                           "CapBnd:\t0000000000000000\n"));
  EXPECT_THAT(ran.err, HasSubstr("Read-only file system"));
}

/// The body of the next test, run by it.
TEST(WallTest, DISABLED_OrdinaryUser) {
  ASSERT_EQ(::getuid(), kNobody);
  TempDir workspace;
  const auto warden = start(namespace_plan(workspace.path(), 0));
  ASSERT_NE(warden, nullptr);
  expect_writes_held(*warden, workspace.path(), "/var", "Read-only file system");
  EXPECT_EQ(run(*warden, {"id", "-u"}).out, fmt::format("{}\n", kNobody));
  const auto tree = warden->tree();
  EXPECT_TRUE(tree && tree->empty());
}

TEST(WallTest, WorksForAnOrdinaryUser) {
  BAWN_REQUIRE("root");
  BAWN_REQUIRE("user-namespaces");
  EXPECT_EQ(run_as_nobody("WallTest.DISABLED_OrdinaryUser"), 0);
}

TEST(WallTest, ForkedWardenServesAlike) {
  if (!bawn::test::kCanForkWarden) {
    GTEST_SKIP() << "ThreadSanitizer";
  }
  BAWN_REQUIRE("user-namespaces");
  TempDir workspace;
  bawn::sandbox::Warden::Options options;
  options.fork_stub = true;
  const auto warden =
      bawn::sandbox::Warden::start(namespace_plan(open_to_all(workspace).path(), 1234), options);
  ASSERT_TRUE(warden) << warden.error().message();
  expect_writes_held(**warden, workspace.path(), "/var", "Read-only file system");
  (*warden)->close();
  EXPECT_FALSE((*warden)->alive());
}

TEST(WallTest, ForkedWardenIsReadByWhoeverWaits) {
  if (!bawn::test::kCanForkWarden) {
    GTEST_SKIP() << "ThreadSanitizer";
  }
  BAWN_REQUIRE("user-namespaces");
  TempDir workspace;
  bawn::sandbox::Warden::Options options;
  options.fork_stub = true;
  const auto started =
      bawn::sandbox::Warden::start(namespace_plan(open_to_all(workspace).path(), 1234), options);
  ASSERT_TRUE(started) << started.error().message();
  bawn::sandbox::Warden& warden = **started;
  EXPECT_EQ(run(warden, {"sh", "-c", "exit 7"}).status.code, 7);
  auto child = *warden.spawn(bawn::test::spec({"sleep", "1000"}));
  ASSERT_TRUE(child->go());
  const auto now = bawn::contract::Context().with_deadline(bawn::contract::Context::Clock::now() +
                                                           std::chrono::milliseconds(1));
  EXPECT_TRUE(child->wait(now).error().is(bawn::contract::ErrorCode::DeadlineExceeded));
  EXPECT_EQ(warden.tree()->size(), 1U);
  EXPECT_EQ(*warden.signal({}, SIGTERM), 1);
  EXPECT_EQ(child->wait(bawn::contract::Context())->signal, SIGTERM);
  auto left = *warden.spawn(bawn::test::spec({"sleep", "1000"}));
  ASSERT_TRUE(left->go());
  warden.abandon();
  pollfd gone{left->pidfd(), POLLIN, 0};
  EXPECT_EQ(::poll(&gone, 1, 5000), 1);
  EXPECT_TRUE(left->wait(bawn::contract::Context()).error().is(bawn::contract::ErrorCode::Closed));
  EXPECT_FALSE(warden.alive());
}

TEST(WallTest, LimitsBindChildrenAndNotTheWarden) {
  auto plan = bawn::test::bare_plan();
  plan.hygiene.apply = true;
  plan.hygiene.rlimits = {{RLIMIT_NOFILE, 40, 40}, {RLIMIT_CORE, 0, 0}};
  const auto warden = start(plan);
  ASSERT_NE(warden, nullptr);
  EXPECT_EQ(run(*warden, {"sh", "-c", "ulimit -n; ulimit -c"}).out, "40\n0\n");
  std::vector<std::unique_ptr<bawn::sandbox::Child>> pending;
  for (int number = 0; number < 60; ++number) {
    auto child = warden->spawn(bawn::test::spec({"true"}));
    ASSERT_TRUE(child) << child.error().message();
    pending.push_back(std::move(*child));
  }
}

std::size_t open_descriptors(const std::string& pid) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
    ++count;
  }
  return count;
}

TEST(WallTest, ThousandSpawnsLeaveNoDescriptorBehind) {
  BAWN_REQUIRE("root");  // to look at the warden's own
  const auto warden = start(bawn::test::bare_plan());
  ASSERT_NE(warden, nullptr);
  const std::string number = fmt::format("{}", warden->pid());
  const auto once = [&](int round) {
    auto child = warden->spawn(bawn::test::spec({round % 2 == 0 ? "/bin/true" : "/no/such"}));
    ASSERT_TRUE(child) << child.error().message();
    if (round % 3 != 0) {
      ASSERT_TRUE((*child)->go());
      ASSERT_TRUE((*child)->wait(bawn::contract::Context()));
    }
  };
  // Children that were never let go end on their own time, and the I/O thread drops the last it
  // holds of a child after its waiter woke; the answer to a request comes after both.
  const auto settle = [&] {
    for (auto tree = warden->tree(); tree && !tree->empty(); tree = warden->tree()) {
    }
  };
  once(1);
  settle();
  const std::size_t ours = open_descriptors("self");
  const std::size_t theirs = open_descriptors(number);
  for (int round = 0; round < 1000; ++round) {
    once(round);
  }
  settle();
  EXPECT_EQ(open_descriptors("self"), ours);
  EXPECT_EQ(open_descriptors(number), theirs);
}

TEST(WallTest, LargeArgumentsPassWhole) {
  const auto warden = start(bawn::test::bare_plan());
  ASSERT_NE(warden, nullptr);
  std::vector<std::string> argv{"sh", "-c", "echo $# ${#1}", "sh"};
  for (int number = 0; number < 200; ++number) {
    argv.emplace_back(5000, 'x');
  }
  EXPECT_EQ(run(*warden, argv).out, "200 5000\n");
  argv.assign(50, std::string(100000, 'x'));
  const auto refused = warden->spawn(bawn::test::spec(argv));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::InvalidArgument);
}

}  // namespace
