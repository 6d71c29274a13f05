// Places whose engine does not see our files, and containers of others that are joined: the warden
// is copied in and speaks over one command's standard streams.
#include "bawn/sandbox/file_agent.hpp"
#include "joined_place.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cerrno>

namespace bawn::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

using CopiedPlaceTest = OpenPlace;

std::string read_file(sandbox::FileAgent& files, const std::string& path) {
  const auto opened = files.open(contract::Context(), path);
  EXPECT_TRUE(opened) << opened.error().message();
  std::string bytes;
  std::array<char, 65536> part;
  for (ssize_t count = 0;
       opened && (count = ::read(opened->fd.get(), part.data(), part.size())) > 0;) {
    bytes.append(part.data(), static_cast<std::size_t>(count));
  }
  return bytes;
}

void write_file(sandbox::FileAgent& files, const std::string& path, const std::string& bytes) {
  const auto staged = files.stage(contract::Context(), path, {});
  ASSERT_TRUE(staged) << staged.error().message();
  ASSERT_EQ(::write((*staged)->fd(), bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  const auto committed = (*staged)->commit(contract::Context(), {});
  ASSERT_TRUE(committed) << committed.error().message();
}

TEST_F(CopiedPlaceTest, RunsAPersistentShellInsideTheContainer) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  EXPECT_EQ(sh("echo $IMAGE_SAYS; cd /tmp; x=1").out.text, "hello\n");
  EXPECT_EQ(sh("echo $PWD $x; cat /proc/1/comm; id -u").out.text,
            "/tmp 1\nwarden\n" + std::to_string(*place_->spec().uid) + "\n");
  EXPECT_EQ(sh("exit 3").exit_code, 3);
  const auto both = sh("echo out; echo err >&2");
  EXPECT_EQ(both.out.text, "out\n");
  EXPECT_EQ(both.err.text, "err\n");
}

TEST_F(CopiedPlaceTest, ReportsTheContainerAndWhatTheInsideAdds) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  EXPECT_TRUE(session_->confinement().confirmed);
  EXPECT_EQ(session_->confinement().by, "container:" + place_->spec().name + "+landlock+seccomp");
  EXPECT_TRUE(place_->facts().read_only_root);
  EXPECT_TRUE(place_->facts().own_network);
  EXPECT_TRUE(place_->facts().capabilities.empty());
  EXPECT_NE(sh("touch /etc/x").exit_code, 0);
  EXPECT_EQ(sh("echo a > made && cat made").out.text, "a\n");
}

TEST_F(CopiedPlaceTest, TimeoutEndsWhatTheCallStartedInside) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  shell::BashRequest request;
  request.command = "sh -c 'sleep 5; touch /tmp/PROOF'";
  request.timeout = 200ms;
  const auto result = run(request);
  EXPECT_EQ(result.reason, shell::Reason::Timeout);
  EXPECT_TRUE(result.survivors.empty());
  EXPECT_EQ(sh("grep -l sleep /proc/[0-9]*/comm 2>/dev/null; ls /tmp/PROOF 2>/dev/null").out.text,
            "");
}

TEST_F(CopiedPlaceTest, ADetachedChildDoesNotHoldTheCall) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  const auto result = sh("setsid sleep 600 & echo done");
  EXPECT_EQ(result.out.text, "done\n");
}

TEST_F(CopiedPlaceTest, TheServersFilesCannotBeMountedThere) {
  setup_.version.shares_files = false;
  const auto refused = container::Place::open(contract::Context(), spec(), setup_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::Unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("mounts"));
}

TEST_F(CopiedPlaceTest, FilesAreReadAndWrittenInside) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  const auto files = session_->warden()->file_agent();
  ASSERT_TRUE(files) << files.error().message();
  const std::string path = session_->workspace() + "/file";
  const std::string bytes(1'500'000, 'x');
  ASSERT_NO_FATAL_FAILURE(write_file(**files, path, bytes));
  EXPECT_EQ(sh("wc -c < file; stat -c '%u %a' file").out.text,
            "1500000\n" + std::to_string(*place_->spec().uid) + " 644\n");
  EXPECT_EQ(read_file(**files, path), bytes);
  sh("echo changed > file; chmod 600 file");
  EXPECT_EQ(read_file(**files, path), "changed\n");
  ASSERT_NO_FATAL_FAILURE(write_file(**files, path, "again\n"));
  EXPECT_EQ(sh("cat file; stat -c %a file; ls -A").out.text, "again\n600\nfile\n");
}

TEST_F(CopiedPlaceTest, FilesStayWithinWhatTheContainerAllows) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  const auto files = session_->warden()->file_agent();
  ASSERT_TRUE(files) << files.error().message();
  const contract::Context now;
  EXPECT_TRUE((*files)->stage(now, "/tmp/x", {}));  // control
  for (const char* const path : {"/etc/x", "/x", "/usr/bin/x"}) {
    const auto refused = (*files)->stage(now, path, {});
    ASSERT_FALSE(refused) << path;
    const auto* const why = refused.error().find<sandbox::FileFailure>();
    ASSERT_NE(why, nullptr);
    EXPECT_TRUE(why->errnum == EROFS || why->errnum == EACCES) << path << " " << why->errnum;
  }
  sh("ln -s /proc/1/root/etc there; ln -s /proc/self/root/etc here");
  for (const char* const link : {"/there/passwd", "/here/passwd"}) {
    const auto refused = (*files)->open(now, session_->workspace() + link);
    ASSERT_FALSE(refused) << link;
    const auto* const why = refused.error().find<sandbox::FileFailure>();
    ASSERT_NE(why, nullptr);
    EXPECT_TRUE(why->errnum == ELOOP || why->errnum == EACCES) << link << " " << why->errnum;
  }
}

TEST_F(CopiedPlaceTest, FilesEndWithTheEnginesCommand) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  const auto files = session_->warden()->file_agent();
  ASSERT_TRUE(files) << files.error().message();
  auto staged = (*files)->stage(contract::Context(), session_->workspace() + "/file", {});
  ASSERT_TRUE(staged) << staged.error().message();
  ASSERT_GT(kill_engine_command(), 0);
  const auto refused = (*staged)->commit(contract::Context(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::Closed);
}

TEST_F(CopiedPlaceTest, CloseLeavesNoContainer) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  const std::string name = place_->spec().name;
  EXPECT_TRUE(exists(name));
  EXPECT_TRUE(place_->close(contract::Context()));
  EXPECT_FALSE(exists(name));
  EXPECT_FALSE(place_->alive());
}

TEST_F(CopiedPlaceTest, AMissingImageIsSaid) {
  auto wanted = spec();
  wanted.image = "localhost/no-such-image:7";
  wanted.mounts.clear();
  setup_.version.shares_files = false;
  const auto refused = container::Place::open(contract::Context(), wanted, setup_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::NotFound);
  EXPECT_THAT(refused.error().message(), HasSubstr("pull"));
}

TEST_F(CopiedPlaceTest, CommandsCannotEndOrStopTheirWardens) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  sh("kill -9 1; kill -STOP 1; kill -9 $PPID; kill -STOP $PPID; kill -STOP -1; kill -9 -1");
  EXPECT_EQ(sh("echo still").out.text, "still\n");
}

TEST_F(CopiedPlaceTest, AnEngineCommandThatIsKilledEndsThePlaceWithASentence) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  const std::string name = place_->spec().name;
  ASSERT_GT(kill_engine_command(), 0);
  const auto refused = run_until_refused();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::Closed);
  EXPECT_TRUE(place_->close(contract::Context()));
  EXPECT_FALSE(exists(name));
}

TEST_F(JoinedPlaceTest, RunsBesideWhatTheContainerRunsAndLeavesItAsItWas) {
  ASSERT_NO_FATAL_FAILURE(start_theirs({"--workdir", "/var", "--env", "THEIRS=yes"}));
  ASSERT_NO_FATAL_FAILURE(open(joining()));
  EXPECT_EQ(sh("pwd; echo $THEIRS; cat /proc/1/comm").out.text, "/var\nyes\nsleep\n");
  EXPECT_EQ(session_->confinement().by, "container:" + theirs_ + "+landlock+seccomp");
  EXPECT_EQ(sh("setsid sleep 700 & echo begun").out.text, "begun\n");
  session_.reset();
  ASSERT_TRUE(place_->close(contract::Context()));
  const auto left = engine_says({"exec", theirs_, "sh", "-c", "ls -A /tmp /var/tmp /run"});
  EXPECT_EQ(left.out.find(".bawn"), std::string::npos) << left.out;
  const auto alive = engine_says({"exec", theirs_, "sh", "-c", "cat /proc/[0-9]*/comm"});
  EXPECT_EQ(alive.out.substr(0, 6), "sleep\n") << alive.out;
  EXPECT_EQ(alive.out.find("sleep", 6), std::string::npos) << alive.out;
  EXPECT_TRUE(exists(theirs_));
}

TEST_F(JoinedPlaceTest, AReadOnlyContainerIsJoinedThroughItsTemporaryFiles) {
  ASSERT_NO_FATAL_FAILURE(start_theirs({"--read-only", "--tmpfs", "/var/tmp:rw,exec,mode=1777",
                                        "--tmpfs", "/tmp:rw,exec,mode=1777"}));
  ASSERT_NO_FATAL_FAILURE(open(joining()));
  EXPECT_TRUE(place_->facts().read_only_root);
  EXPECT_EQ(sh("echo a > /tmp/x && cat /tmp/x").out.text, "a\n");
}

TEST_F(JoinedPlaceTest, AContainerThatTheServerMayNotJoinIsRefused) {
  ASSERT_NO_FATAL_FAILURE(start_theirs({}));
  setup_.bounds.existing.clear();
  const auto refused = container::Place::open(contract::Context(), joining(), setup_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::PermissionDenied);
  EXPECT_THAT(refused.error().message(), HasSubstr("--join-container"));
}

TEST_F(JoinedPlaceTest, OneThatIsNotThereOrDoesNotRunIsSaid) {
  const auto missing = container::Place::open(contract::Context(), joining(), setup_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), contract::ErrorCode::NotFound);
  ASSERT_EQ(engine_says({"create", "--name", theirs_, kImage, "true"}).exit_code, 0);
  const auto asleep = container::Place::open(contract::Context(), joining(), setup_);
  ASSERT_FALSE(asleep);
  EXPECT_THAT(asleep.error().message(), HasSubstr("does not run"));
}

}  // namespace
}  // namespace bawn::test
