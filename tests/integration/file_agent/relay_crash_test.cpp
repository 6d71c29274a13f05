// The relay is killed at each of its system calls while a commit crosses it: the name has nothing
// or all of the new content.
#include "bawn/os/pidfd.hpp"
#include "bawn/os/poll.hpp"
#include "killed_agent.hpp"
#include "walled_files.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

namespace {

using bawn::sandbox::CommitOptions;
using bawn::sandbox::Condition;
using bawn::test::read_file;

const std::string kOld(70000, 'o');
const std::string kNew(90000, 'n');

class FileRelayCrashTest : public bawn::test::WalledFiles {
 protected:
  FileRelayCrashTest() { over_pipes_ = true; }

  /// Commits while the relay is killed at its system call number `at`, and waits until all of the
  /// session is gone. False when the commit came first.
  bool commit_and_kill(int at, const CommitOptions& options) {
    relay_.reset();
    raise();
    auto staged = files_->stage(now_, in("a"), {});
    EXPECT_TRUE(staged) << staged.error().message();
    EXPECT_EQ(::write((*staged)->fd(), kNew.data(), kNew.size()),
              static_cast<ssize_t>(kNew.size()));
    const auto warden = bawn::os::Pidfd::open(wall_.warden->pid());
    EXPECT_TRUE(warden);
    const bool killed = bawn::test::run_and_kill(relay_->pid(), at, [&] {
      committed_ = (*staged)->commit(now_, options).has_value();
      staged->reset();
    });
    EXPECT_TRUE(bawn::os::wait_readable(warden->get(), now_));
    return killed;
  }

  bool committed_ = false;  ///< what the last commit said
};

INSTANTIATE_TEST_SUITE_P(Modes, FileRelayCrashTest, testing::Values(bawn::test::kAllLayers),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(FileRelayCrashTest, CreatingLeavesNothingOrAll) {
  BAWN_REQUIRE("root");
  bool killed = true;
  int nothing = 0;
  for (int at = 0; killed; ++at) {
    SCOPED_TRACE(at);
    std::filesystem::remove(in("a"));
    killed = commit_and_kill(at, {.condition = Condition::absent()});
    const bool there = std::filesystem::exists(in("a"));
    ASSERT_TRUE(there || !committed_);
    ASSERT_EQ(read_file(in("a")), there ? kNew : "");
    ASSERT_EQ(std::distance(std::filesystem::directory_iterator(workspace_), {}), there ? 1 : 0);
    nothing += there ? 0 : 1;
    ASSERT_LT(at, 400);
  }
  EXPECT_TRUE(committed_);
  EXPECT_GT(nothing, 2);  // controls: both happened
}

TEST_P(FileRelayCrashTest, ReplacingLeavesOldOrNew) {
  BAWN_REQUIRE("root");
  bool killed = true;
  int old_left = 0;
  for (int at = 0; killed; ++at) {
    SCOPED_TRACE(at);
    put(in("a"), kOld);
    killed = commit_and_kill(at, {});
    const std::string content = read_file(in("a"));
    ASSERT_TRUE(content == kNew || (content == kOld && !committed_));
    old_left += content == kOld ? 1 : 0;
    ASSERT_LT(at, 400);
  }
  EXPECT_TRUE(committed_);
  EXPECT_GT(old_left, 1);
}

}  // namespace
