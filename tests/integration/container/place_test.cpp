#include "bawn/contract/record.hpp"
#include "open_place.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace bawn::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

using PlaceTest = OpenPlace;

TEST_F(PlaceTest, RunsAPersistentShellInsideTheContainer) {
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_EQ(sh("echo $IMAGE_SAYS; cd /tmp; x=1").out.text, "hello\n");
  const auto second = sh("echo $PWD $x; cat /proc/1/comm");
  EXPECT_EQ(second.out.text, "/tmp 1\nwarden\n");
  EXPECT_EQ(sh("exit 3").exit_code, 3);
}

TEST_F(PlaceTest, ReportsWhatHoldsItAndWhatTheInsideAdds) {
  ASSERT_NO_FATAL_FAILURE(open());
  const auto& report = session_->confinement();
  EXPECT_TRUE(report.confirmed);
  EXPECT_EQ(report.by, "container:" + place_->spec().name + "+landlock+seccomp");
  EXPECT_TRUE(place_->facts().read_only_root);
  EXPECT_TRUE(place_->facts().no_new_privileges);
  EXPECT_TRUE(place_->facts().own_network);
  EXPECT_TRUE(place_->facts().capabilities.empty());
  const auto denied = sh("touch /etc/x 2>&1 || echo denied");
  EXPECT_THAT(denied.out.text, HasSubstr("denied"));
  EXPECT_EQ(sh("echo a > made && cat made").out.text, "a\n");
  EXPECT_TRUE(std::filesystem::exists(workspace_.path() / "made"));
}

TEST_F(PlaceTest, WithoutBashEachCallHasANewShWithTheStateOfTheLast) {
  auto wanted = spec();
  wanted.environment["PATH"] = "/nowhere";  // where no bash is
  shell::SessionConfig config;
  config.bash = "/nowhere/bash";
  ASSERT_NO_FATAL_FAILURE(open(std::move(wanted), std::move(config)));
  const auto first = sh("cd /tmp; x=kept; export E=too; (exit 3)");
  EXPECT_EQ(first.exit_code, 3);
  EXPECT_EQ(first.shell, "/bin/sh (snapshot)");
  EXPECT_THAT(first.not_kept, Contains(HasSubstr("jobs")));
  EXPECT_EQ(first.cwd, "/tmp");
  EXPECT_EQ(sh("echo $PWD $x $E $?; /usr/bin/cat /proc/1/comm").out.text,
            "/tmp kept too 3\nwarden\n");
  EXPECT_EQ(sh("exit 5").exit_code, 5);
  EXPECT_EQ(sh("if").reason, shell::Reason::SyntaxError);
  shell::BashRequest request;
  request.command = "x=changed; echo before; /usr/bin/sleep 600";
  request.timeout = 300ms;
  const auto late = run(std::move(request));
  EXPECT_EQ(late.reason, shell::Reason::Timeout);
  EXPECT_TRUE(late.survivors.empty());
  EXPECT_EQ(sh("echo on").out.text, "on\n");
}

TEST_F(PlaceTest, TimeoutEndsWhatTheCallStartedInside) {
  ASSERT_NO_FATAL_FAILURE(open());
  shell::BashRequest request;
  request.command = "sh -c 'sleep 5; touch /workspace/PROOF'";
  request.timeout = 200ms;
  const auto result = run(request);
  EXPECT_EQ(result.reason, shell::Reason::Timeout);
  EXPECT_TRUE(result.survivors.empty());
  // Nothing of it is left that could still write.
  EXPECT_EQ(sh("grep -l sleep /proc/[0-9]*/comm 2>/dev/null").out.text, "");
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "PROOF"));
}

TEST_F(PlaceTest, ADetachedChildDoesNotHoldTheCall) {
  ASSERT_NO_FATAL_FAILURE(open());
  const auto result = sh("setsid sleep 600 & echo done");
  EXPECT_EQ(result.out.text, "done\n");
  EXPECT_EQ(result.exit_code, 0);
}

TEST_F(PlaceTest, WithoutAMountTheWorkspaceIsTemporaryAndWritable) {
  auto wanted = spec();
  wanted.mounts.clear();
  ASSERT_NO_FATAL_FAILURE(open(std::move(wanted)));
  EXPECT_EQ(sh("pwd; echo a > made; cat made").out.text, "/workspace\na\n");
}

TEST_F(PlaceTest, TwoSessionsAreApart) {
  ASSERT_NO_FATAL_FAILURE(open());
  shell::SessionConfig config;
  config.name = "second";
  const auto second = place_->start_session(std::move(config));
  ASSERT_TRUE(second) << second.error().message();
  sh("x=first; sleep 600 & echo $! > /tmp/pid");
  shell::BashRequest request;
  request.command = "echo ${x-unset}; kill -0 $(cat /tmp/pid) 2>/dev/null || echo denied";
  const auto result = (*second)->run(contract::Context(), std::move(request));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->out.text, "unset\ndenied\n");
  (*second)->close();
  EXPECT_EQ(sh("echo $x").out.text, "first\n");
}

TEST_F(PlaceTest, ACancelledCallEndsInsideAndTheShellStays) {
  ASSERT_NO_FATAL_FAILURE(open());
  sh("x=5");
  shell::BashRequest request;
  request.command = "trap '' INT; echo begun; sleep 600";
  request.yield = 0ms;
  const auto running = run(std::move(request));
  ASSERT_TRUE(session_->stop(running.call));
  shell::OutputRequest look;
  look.call = running.call;
  const auto ended = session_->output(contract::Context(), look);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_EQ(ended->state, shell::CallState::Finished);
  EXPECT_EQ(sh("echo $x; grep -c sleep /proc/[0-9]*/comm | grep -c :1").out.text, "5\n0\n");
}

TEST_F(PlaceTest, LimitsAreThoseThatTheKernelHas) {
  auto wanted = spec();
  wanted.limits.memory_bytes = 268435456;
  wanted.limits.processes = 64;
  ASSERT_NO_FATAL_FAILURE(open(std::move(wanted)));
  const auto& facts = place_->facts();
  const auto& layer = place_->forecast().layers.front();
  EXPECT_EQ(layer.name, "container");
  // A rootless engine on cgroup v1 sets none; then the report must say so.
  if (facts.memory_bytes) {
    EXPECT_EQ(*facts.memory_bytes, 268435456U);
  } else {
    EXPECT_THAT(layer.missing, Contains(HasSubstr("memory")));
  }
  if (facts.processes) {
    EXPECT_EQ(*facts.processes, 64U);
  } else {
    EXPECT_THAT(layer.missing, Contains(HasSubstr("processes")));
  }
}

TEST_F(PlaceTest, AMountThatLeadsOutOfTheWorkspaceIsRefused) {
  std::filesystem::create_symlink("/etc", workspace_.path() / "link");
  for (const char* const source : {"link", "/etc", "..", "link/ssh"}) {
    auto wanted = spec();
    wanted.mounts[0].source = source;
    const auto place = container::Place::open(contract::Context(), wanted, setup_);
    ASSERT_FALSE(place) << source;
    EXPECT_EQ(place.error().code(), contract::ErrorCode::PermissionDenied) << source;
  }
}

TEST_F(PlaceTest, TheRecordIsWrittenBeforeTheContainerStarts) {
  std::vector<contract::Record> records;
  bool there_already = false;
  auto wanted = spec();
  const std::string name = wanted.name;
  const auto context = contract::with_recorder(
      contract::Context(), [&](const contract::Context&, const contract::Record& record) {
        there_already = there_already || exists(name);
        records.push_back(record);
        return contract::Result<>();
      });
  auto place = container::Place::open(context, std::move(wanted), setup_);
  ASSERT_TRUE(place) << place.error().message();
  place_ = *place;
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].name_space, container::kHandleRecord);
  EXPECT_EQ(records[0].data["container"], name);
  EXPECT_FALSE(there_already);
  // What the next start of a server does by it.
  const auto found = container::remove_left_behind(contract::Context(), records[0].data,
                                                   engine_environment().variables, true);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_TRUE(*found);
  EXPECT_FALSE(exists(name));
}

TEST_F(PlaceTest, ARefusedRecordStartsNoContainer) {
  auto wanted = spec();
  const std::string name = wanted.name;
  const auto context = contract::with_recorder(
      contract::Context(), [](const contract::Context&, const contract::Record&) {
        return contract::Result<>(contract::fail(contract::ErrorCode::ResourceExhausted, "full"));
      });
  EXPECT_FALSE(container::Place::open(context, std::move(wanted), setup_));
  EXPECT_FALSE(exists(name));
}

TEST_F(PlaceTest, AFullFileSystemInsideIsTheCommandsError) {
  auto wanted = spec();
  wanted.limits.tmp_bytes = 1048576;
  ASSERT_NO_FATAL_FAILURE(open(std::move(wanted)));
  const auto result = sh("dd if=/dev/zero of=/tmp/fill bs=64k count=64");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err.text, HasSubstr("No space left"));
  EXPECT_EQ(sh("rm /tmp/fill; echo on").out.text, "on\n");
}

TEST_F(PlaceTest, OpeningAndClosingAgainAndAgainLeavesNothing) {
  for (int round = 0; round < 5; ++round) {
    ASSERT_NO_FATAL_FAILURE(open());
    EXPECT_EQ(sh("echo up").out.text, "up\n");
    session_.reset();
    EXPECT_TRUE(place_->close(contract::Context()));
  }
  const auto left = setup_.engine->list(contract::Context(), "bawn.place");
  ASSERT_TRUE(left);
  for (const std::string& id : *left) {
    const auto found = setup_.engine->inspect(contract::Context(), id);
    if (found && *found) {  // another test's, of another process
      EXPECT_THAT((*found)->value("Name", ""),
                  ::testing::Not(HasSubstr("bawn-test-" + std::to_string(getpid()) + "-")));
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(state_.path() / "places"));
}

TEST_F(PlaceTest, CloseLeavesNoContainerAndNoDirectory) {
  ASSERT_NO_FATAL_FAILURE(open());
  const std::string name = place_->spec().name;
  EXPECT_TRUE(exists(name));
  EXPECT_TRUE(place_->close(contract::Context()));
  EXPECT_FALSE(exists(name));
  EXPECT_FALSE(place_->alive());
  EXPECT_TRUE(std::filesystem::is_empty(state_.path() / "places"));
}

TEST_F(PlaceTest, CommandsCannotEndOrStopTheirWardens) {
  ASSERT_NO_FATAL_FAILURE(open());
  sh("kill -9 1; kill -STOP 1; kill -9 $PPID; kill -STOP $PPID; kill -STOP -1; kill -9 -1");
  EXPECT_EQ(sh("echo still").out.text, "still\n");
  EXPECT_TRUE(place_->alive());
}

TEST_F(PlaceTest, AnEngineCommandThatIsKilledEndsThePlaceWithASentence) {
  ASSERT_NO_FATAL_FAILURE(open());
  const std::string name = place_->spec().name;
  shell::BashRequest request;
  request.command = "echo begun; sleep 600";
  request.yield = 0ms;
  const auto running = run(std::move(request));
  ASSERT_GT(kill_engine_command(), 0);
  shell::OutputRequest look;
  look.call = running.call;
  const auto ended = session_->output(contract::Context(), look);
  EXPECT_TRUE(!ended || ended->state == shell::CallState::Finished);
  const auto refused = run_until_refused();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::Closed);
  EXPECT_TRUE(place_->close(contract::Context()));
  EXPECT_FALSE(exists(name));
}

TEST_F(PlaceTest, ALinkInThePlaceOfItsDirectoryLeadsNowhere) {
  ASSERT_NO_FATAL_FAILURE(open());
  // As a command could that runs as the directory's owner where the root is writable: it is at the
  // same path inside.
  const auto places = state_.path() / "places";
  const auto sessions = std::filesystem::directory_iterator(places)->path() / "sessions";
  std::filesystem::rename(sessions, sessions.string() + ".away");
  const TempDir elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), sessions);
  const auto refused = place_->start_session({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::PermissionDenied);
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

}  // namespace
}  // namespace bawn::test
