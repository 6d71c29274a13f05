// What the file agent gives, in every mode of the wall.
#include "walled_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace {

using bawn::contract::ErrorCode;
using bawn::sandbox::CommitOptions;
using bawn::sandbox::Condition;
using bawn::sandbox::FileAgent;
using bawn::sandbox::FileFailure;
using bawn::sandbox::FileType;
using bawn::test::errno_of;
using bawn::test::kind_of;
using bawn::test::WallMode;
using testing::HasSubstr;
using Kind = FileFailure::Kind;

class FileAgentTest : public bawn::test::WalledFiles {};

INSTANTIATE_TEST_SUITE_P(Modes, FileAgentTest,
                         testing::Values(bawn::test::kAllLayers, bawn::test::kLandlock,
                                         bawn::test::kNoLayer, bawn::test::kUnconfined),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(FileAgentTest, ReadsAFileWithItsStatus) {
  put(in("a"), "text\n", 0640);
  auto opened = files_->open(now_, in("a"));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->status.type, FileType::Regular);
  EXPECT_EQ(opened->status.mode, 0640U);
  EXPECT_EQ(opened->status.size, 5U);
  EXPECT_EQ(opened->status.links, 1U);
  EXPECT_EQ(*read(in("a")), "text\n");
  EXPECT_NE(::fcntl(opened->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(*files_->status(now_, in("a"), FileAgent::Links::Follow), opened->status);
}

TEST_P(FileAgentTest, WritesANewFileAndReplacesItKeepingItsMode) {
  const auto made = write(in("a"), "one");
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_FALSE(made->replaced);
  EXPECT_TRUE(made->durable);
  EXPECT_EQ(bawn::test::read_file(in("a")), "one");
  ASSERT_EQ(::chmod(in("a").c_str(), 0750), 0);
  const auto replaced = write(in("a"), "two");
  ASSERT_TRUE(replaced) << replaced.error().message();
  EXPECT_TRUE(replaced->replaced);
  EXPECT_TRUE(replaced->owner_kept);
  EXPECT_EQ(replaced->status.mode, 0750U);
  EXPECT_EQ(bawn::test::read_file(in("a")), "two");
  EXPECT_EQ(*files_->status(now_, in("a"), FileAgent::Links::Keep), replaced->status);
  EXPECT_EQ(shell("ls -A " + workspace_), "a\n");  // nothing else is left
}

TEST_P(FileAgentTest, AnUncommittedFileLeavesNothing) {
  ASSERT_TRUE(files_->stage(now_, in("a"), {}));
  EXPECT_TRUE(std::filesystem::is_empty(workspace_));
}

TEST_P(FileAgentTest, MakesMissingParentsOnRequest) {
  const auto without = write(in("x/y/a"), "one");
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code(), ErrorCode::NotFound);
  auto staged = files_->stage(now_, in("x/y/a"), {true});
  ASSERT_TRUE(staged) << staged.error().message();
  EXPECT_EQ((*staged)->parents_made(), 2);
  ASSERT_TRUE((*staged)->commit(now_, {}));
  EXPECT_TRUE(std::filesystem::exists(in("x/y/a")));
}

TEST_P(FileAgentTest, ConditionsAreHeld) {
  const CommitOptions absent{.condition = Condition::absent()};
  const auto first = write(in("a"), "one", absent);
  ASSERT_TRUE(first) << first.error().message();
  const auto second = write(in("a"), "two", absent);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::AlreadyExists);
  EXPECT_EQ(kind_of(second.error()), Kind::Exists);
  const auto third = write(in("a"), "three", {.condition = Condition::same(first->status)});
  ASSERT_TRUE(third) << third.error().message();
  const auto stale = write(in("a"), "four", {.condition = Condition::same(first->status)});
  ASSERT_FALSE(stale);
  EXPECT_EQ(kind_of(stale.error()), Kind::Changed);
  EXPECT_EQ(bawn::test::read_file(in("a")), "three");
  EXPECT_EQ(shell("ls -A " + workspace_), "a\n");
}

TEST_P(FileAgentTest, AModeIsSetAsAsked) {
  const auto made = write(in("a"), "#!/bin/sh\n", {.mode = 0755});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->status.mode, 0755U);
  const auto changed = files_->set_mode(now_, in("a"), 0600);
  ASSERT_TRUE(changed) << changed.error().message();
  EXPECT_EQ(changed->mode, 0600U);
}

TEST_P(FileAgentTest, AttributesOfAReplacedFileAreKept) {
  put(in("a"), "one");
  if (::setxattr(in("a").c_str(), "user.note", "kept", 4, 0) != 0) {
    GTEST_SKIP() << "no user attributes on this file system";
  }
  const auto replaced = write(in("a"), "two");
  ASSERT_TRUE(replaced) << replaced.error().message();
  EXPECT_TRUE(replaced->attributes_kept);
  char value[8] = {};
  EXPECT_EQ(::getxattr(in("a").c_str(), "user.note", value, sizeof value), 4);
  EXPECT_STREQ(value, "kept");
}

TEST_P(FileAgentTest, ListsADirectoryInPages) {
  for (int number = 0; number < 3000; ++number) {
    put(in(std::string(100, 'n') + std::to_string(number)), "");
  }
  std::filesystem::create_directory(in("dir"));
  std::filesystem::create_symlink("dir", in("link"));
  std::vector<std::string> names;
  int pages = 0;
  bawn::sandbox::ListOptions options{.with_status = true};
  do {
    const auto page = files_->list(now_, workspace_, options);
    ASSERT_TRUE(page) << page.error().message();
    for (const auto& entry : page->entries) {
      names.push_back(entry.name);
      ASSERT_TRUE(entry.status);
      EXPECT_EQ(entry.status->type, entry.type);
      EXPECT_EQ(entry.type, entry.name == "dir"    ? FileType::Directory
                            : entry.name == "link" ? FileType::Symlink
                                                   : FileType::Regular);
    }
    options.cursor = page->next;
    ++pages;
  } while (!options.cursor.empty());
  EXPECT_GT(pages, 1);
  std::ranges::sort(names);
  EXPECT_EQ(names.size(), 3002U);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST_P(FileAgentTest, RemovesRenamesAndMakesDirectories) {
  put(in("a"), "one");
  ASSERT_TRUE(files_->rename(now_, in("a"), in("b"), Condition::absent()));
  put(in("c"), "two");
  const auto taken = files_->rename(now_, in("b"), in("c"), Condition::absent());
  ASSERT_FALSE(taken);
  EXPECT_EQ(kind_of(taken.error()), Kind::Exists);
  EXPECT_EQ(taken.error().find<FileFailure>()->path, in("c"));
  ASSERT_TRUE(files_->rename(now_, in("b"), in("c"), {}));
  EXPECT_EQ(bawn::test::read_file(in("c")), "one");
  EXPECT_EQ(*files_->make_directory(now_, in("x/y/"), {.parents = true}), 2);
  EXPECT_EQ(*files_->make_directory(now_, in("x/y"), {.parents = true}), 0);
  EXPECT_EQ(kind_of(files_->make_directory(now_, in("x/y"), {}).error()), Kind::Exists);
  EXPECT_EQ(*files_->make_directory(now_, in("x/open"), {.mode = 01777, .exact = true}), 1);
  EXPECT_EQ(files_->status(now_, in("x/open"), FileAgent::Links::Keep)->mode, 01777U);
  EXPECT_EQ(errno_of(files_->remove_directory(now_, in("x")).error()), ENOTEMPTY);
  EXPECT_TRUE(files_->remove_directory(now_, in("x/y")));
  EXPECT_EQ(kind_of(files_->remove_file(now_, in("x"), {}).error()), Kind::Directory);
  EXPECT_TRUE(files_->remove_file(now_, in("c"), {}));
  EXPECT_EQ(files_->remove_file(now_, in("c"), {}).error().code(), ErrorCode::NotFound);
}

TEST_P(FileAgentTest, WritesThroughALinkAsAnEditorDoes) {
  put(in("real"), "one");
  std::filesystem::create_symlink("real", in("link"));
  std::filesystem::create_symlink("new", in("dangling"));
  auto staged = files_->stage(now_, in("link"), {});
  ASSERT_TRUE(staged);
  EXPECT_EQ((*staged)->target(), in("real"));
  EXPECT_EQ(*files_->read_link(now_, in("link")), "real");
  ASSERT_TRUE(write(in("link"), "two"));
  ASSERT_TRUE(write(in("dangling"), "three"));
  EXPECT_TRUE(std::filesystem::is_symlink(in("link")));
  EXPECT_EQ(bawn::test::read_file(in("real")), "two");
  EXPECT_EQ(bawn::test::read_file(in("new")), "three");
}

TEST_P(FileAgentTest, WhatIsNoRegularFileIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(in("fifo").c_str(), 0666), 0);
  ASSERT_EQ(::chmod(in("fifo").c_str(), 0666), 0);
  for (const auto& [path, type] :
       {std::pair{in("fifo"), FileType::Fifo}, std::pair{workspace_, FileType::Directory}}) {
    const auto opened = files_->open(now_, path);
    ASSERT_FALSE(opened) << path;
    EXPECT_EQ(opened.error().code(), ErrorCode::InvalidArgument);
    EXPECT_EQ(opened.error().find<FileFailure>()->type, type);
    EXPECT_FALSE(files_->stage(now_, path, {}));
  }
  if (!GetParam().agent_holds) {
    const auto device = files_->open(now_, "/dev/null");
    ASSERT_FALSE(device);
    EXPECT_EQ(kind_of(device.error()), Kind::NotRegular);
    EXPECT_THAT(device.error().message(), HasSubstr("a character device"));
  }
}

TEST_P(FileAgentTest, PathsThatAreNoneAreRefusedInWords) {
  for (const std::string& path : {std::string(), std::string("relative"), std::string("/a\0b", 4),
                                  "/" + std::string(5000, 'a')}) {
    const auto opened = files_->open(now_, path);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), ErrorCode::InvalidArgument);
  }
  EXPECT_EQ(errno_of(files_->open(now_, in(std::string(300, 'n'))).error()), ENAMETOOLONG);
  put(in("b"), "x");
  const auto around = read(workspace_ + "/.//../ws//b");
  if (GetParam().agent_holds) {  // a root that was left is left
    ASSERT_FALSE(around);
    EXPECT_EQ(kind_of(around.error()), Kind::Outside);
  } else {
    EXPECT_EQ(around.value_or(""), "x");
  }
  EXPECT_EQ(*read(workspace_ + "/.///./b"), "x");
}

}  // namespace
