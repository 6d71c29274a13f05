// The agent is killed at every system call of a commit: the name has the old content or the new
// one, and nothing else is left in its directory.
#include "killed_agent.hpp"
#include "walled_files.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

namespace {

using bawn::sandbox::Condition;
using bawn::test::read_file;

const std::string kOld(70000, 'o');
const std::string kNew(90000, 'n');

class FileCrashTest : public bawn::test::WalledFiles {
 protected:
  [[nodiscard]] int agent() {
    EXPECT_TRUE(files_->status(now_, workspace_, bawn::sandbox::FileAgent::Links::Keep));
    return bawn::test::newest_agent(wall_.warden->pid());
  }

  /// Commits over `name` while the only agent is killed at its system call number `at`. False when
  /// the commit came first.
  bool commit_and_kill(const std::string& name, int at,
                       const bawn::sandbox::CommitOptions& options) {
    auto staged = files_->stage(now_, name, {});
    EXPECT_TRUE(staged) << staged.error().message();
    EXPECT_EQ(::write((*staged)->fd(), kNew.data(), kNew.size()),
              static_cast<ssize_t>(kNew.size()));
    return bawn::test::run_and_kill(agent(), at, [&] {
      auto committed = (*staged)->commit(now_, options);
      committed_ = committed.has_value();
      staged->reset();
    });
  }

  bool committed_ = false;  ///< what the last commit said
};

INSTANTIATE_TEST_SUITE_P(Modes, FileCrashTest,
                         testing::Values(bawn::test::kAllLayers, bawn::test::kNoLayer),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(FileCrashTest, ReplacingLeavesOldOrNew) {
  BAWN_REQUIRE("root");
  int old_left = 0;
  int new_left = 0;
  bool killed = true;
  for (int at = 0; killed; ++at) {
    SCOPED_TRACE(at);
    put(in("a"), kOld);
    killed = commit_and_kill(in("a"), at, {});
    const std::string content = read_file(in("a"));
    ASSERT_EQ(content, committed_ ? kNew : kOld);  // and the answer is the truth
    (killed ? content == kOld ? old_left : new_left : new_left) += 1;
    ASSERT_EQ(shell("ls -A " + workspace_), "a\n");
    ASSERT_LT(at, 200);
  }
  EXPECT_EQ(read_file(in("a")), kNew);
  EXPECT_GT(old_left, 4);  // controls: both happened
  EXPECT_GT(new_left, 1);
}

TEST_P(FileCrashTest, CreatingLeavesNothingOrAll) {
  BAWN_REQUIRE("root");
  bool killed = true;
  for (int at = 0; killed; ++at) {
    SCOPED_TRACE(at);
    std::filesystem::remove(in("a"));
    killed = commit_and_kill(in("a"), at, {.condition = bawn::sandbox::Condition::absent()});
    const std::string listed = shell("ls -A " + workspace_);
    ASSERT_EQ(listed, committed_ ? "a\n" : "");
    ASSERT_EQ(read_file(in("a")), committed_ ? kNew : "");
    ASSERT_LT(at, 200);
  }
  EXPECT_EQ(read_file(in("a")), kNew);
}

TEST_P(FileCrashTest, AFileThatIsKeptComesBackOrGoes) {
  BAWN_REQUIRE("root");
  bool killed = true;
  for (int at = 0; killed; ++at) {
    SCOPED_TRACE(at);
    put(in("a"), kOld);
    const auto before = files_->status(now_, in("a"), bawn::sandbox::FileAgent::Links::Keep);
    ASSERT_TRUE(before);
    killed =
        commit_and_kill(in("a"), at, {.condition = Condition::same(*before), .keep_old = true});
    ASSERT_EQ(read_file(in("a")), committed_ ? kNew : kOld);
    ASSERT_EQ(shell("ls -A " + workspace_), "a\n");
    ASSERT_LT(at, 200);
  }
}

TEST_P(FileCrashTest, SettingAsideAndPuttingBackLoseNothing) {
  BAWN_REQUIRE("root");
  put(in("a"), kOld);
  const auto before = files_->status(now_, in("a"), bawn::sandbox::FileAgent::Links::Keep);
  ASSERT_TRUE(before);
  bool killed = true;
  for (int at = 0; killed; ++at) {
    SCOPED_TRACE(at);
    const auto now = files_->status(now_, in("a"), bawn::sandbox::FileAgent::Links::Keep);
    ASSERT_TRUE(now);
    ASSERT_EQ(now->inode, before->inode);
    killed = bawn::test::run_and_kill(agent(), at, [&] {
      auto aside = files_->set_aside(now_, in("a"), *now);
      if (!aside) {
        return;
      }
      EXPECT_EQ((*aside)->target(), in("a"));
      if (!(*aside)->put_back(now_, Condition::absent())) {
        // Whether it was done was unknown: the file is in one of the two places.
        if (std::filesystem::exists((*aside)->hidden_path())) {
          std::filesystem::rename((*aside)->hidden_path(), in("a"));
        }
      }
    });
    ASSERT_EQ(shell("ls -A " + workspace_), "a\n");
    ASSERT_EQ(read_file(in("a")), kOld);
    ASSERT_LT(at, 200);
  }
}

}  // namespace
