// Old files that a change keeps until it is known to stay: the very file comes back, or goes.
#include "walled_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace {

namespace fs = std::filesystem;
using bawn::sandbox::Condition;
using bawn::sandbox::FileAgent;
using bawn::sandbox::FileFailure;
using bawn::sandbox::FileStatus;
using bawn::test::kind_of;
using bawn::test::read_file;
using Kind = FileFailure::Kind;

class FileAsideTest : public bawn::test::WalledFiles {
 protected:
  FileStatus status_of(const std::string& name) {
    const auto status = files_->status(now_, in(name), FileAgent::Links::Keep);
    EXPECT_TRUE(status) << name;
    return status.value_or(FileStatus{});
  }
  std::string names() { return shell("ls -A " + workspace_); }
};

INSTANTIATE_TEST_SUITE_P(Modes, FileAsideTest,
                         testing::Values(bawn::test::kAllLayers, bawn::test::kLandlock,
                                         bawn::test::kNoLayer, bawn::test::kUnconfined),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(FileAsideTest, AReplacedFileComesBackAsItself) {
  put(in("a"), "old");
  fs::create_hard_link(in("a"), in("b"));
  const FileStatus before = status_of("a");
  auto committed = write(in("a"), "new", {.condition = Condition::same(before), .keep_old = true});
  ASSERT_TRUE(committed) << committed.error().message();
  ASSERT_NE(committed->old, nullptr);
  EXPECT_EQ(read_file(in("a")), "new");
  EXPECT_EQ(read_file(committed->old->hidden_path()), "old");
  ASSERT_TRUE(committed->old->put_back(now_, Condition::same_content(committed->status)));
  EXPECT_EQ(status_of("a").inode, before.inode);
  EXPECT_EQ(status_of("a").links, 2U);
  EXPECT_EQ(names(), "a\nb\n");
}

TEST_P(FileAsideTest, WhatIsLetGoIsGone) {
  put(in("a"), "old");
  auto committed = write(in("a"), "new", {.keep_old = true});
  ASSERT_TRUE(committed) << committed.error().message();
  committed->old.reset();
  auto aside = files_->set_aside(now_, in("a"), status_of("a"));
  ASSERT_TRUE(aside) << aside.error().message();
  aside->reset();
  EXPECT_EQ(names(), "");
}

TEST_P(FileAsideTest, NothingIsPutOverWhatCameMeanwhile) {
  put(in("a"), "old");
  auto aside = files_->set_aside(now_, in("a"), status_of("a"));
  ASSERT_TRUE(aside) << aside.error().message();
  put(in("a"), "theirs");
  const auto refused = (*aside)->put_back(now_, Condition::absent());
  ASSERT_FALSE(refused);
  EXPECT_EQ(kind_of(refused.error()), Kind::Exists);
  EXPECT_EQ(read_file(in("a")), "theirs");
  const std::string hidden = (*aside)->hidden_path();
  aside->reset();
  EXPECT_EQ(read_file(hidden), "old");  // nothing is lost
}

TEST_P(FileAsideTest, AnotherFileUnderTheHiddenNameIsNotPutBack) {
  put(in("a"), "old");
  auto aside = files_->set_aside(now_, in("a"), status_of("a"));
  ASSERT_TRUE(aside) << aside.error().message();
  const std::string hidden = (*aside)->hidden_path();
  put(in("other"), "theirs");
  fs::rename(in("other"), hidden);
  const auto refused = (*aside)->put_back(now_, Condition::absent());
  ASSERT_FALSE(refused);
  EXPECT_EQ(kind_of(refused.error()), Kind::Changed);
  EXPECT_FALSE(fs::exists(in("a")));
}

TEST_P(FileAsideTest, OnlyTheExpectedFileIsTaken) {
  put(in("a"), "old");
  const FileStatus before = status_of("a");
  put(in("a"), "changed since");
  const auto refused = files_->set_aside(now_, in("a"), before);
  ASSERT_FALSE(refused);
  EXPECT_EQ(kind_of(refused.error()), Kind::Changed);
  fs::create_directory(in("d"));
  EXPECT_FALSE(files_->set_aside(now_, in("d"), status_of("d")));
  EXPECT_FALSE(files_->set_aside(now_, out("file"), before));
  EXPECT_EQ(names(), "a\nd\n");
}

TEST_P(FileAsideTest, ARenameCanBeBoundToTheFile) {
  put(in("a"), "old");
  const FileStatus before = status_of("a");
  put(in("a"), "changed since");
  const auto refused =
      files_->rename(now_, in("a"), in("b"), Condition::absent(), Condition::same(before));
  ASSERT_FALSE(refused);
  EXPECT_EQ(kind_of(refused.error()), Kind::Changed);
  EXPECT_TRUE(
      files_->rename(now_, in("a"), in("b"), Condition::absent(), Condition::same(status_of("a"))));
  EXPECT_EQ(names(), "b\n");
}

TEST_P(FileAsideTest, DirectoriesOfAFailedStageAreRemovedAgain) {
  const std::string long_name(300, 'x');
  EXPECT_FALSE(write(in("d/e/" + long_name + "/f"), "x", {}, true));
  EXPECT_FALSE(write(in("d/e/" + long_name), "x", {}, true));
  EXPECT_EQ(names(), "");
}

}  // namespace
