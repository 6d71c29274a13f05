// The files of a step are made ahead; a FIFO that nobody holds serves again under another name.
#include "step_files.hpp"

#include "bawn/shell/session.hpp"
#include "session_dir.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

namespace bawn::shell {
namespace {

class StepFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = Session::prepare_directory(state_.path(), geteuid(), getegid());
    ASSERT_TRUE(path) << path.error().message();
    auto dir = SessionDir::open(*path);
    ASSERT_TRUE(dir) << dir.error().message();
    dir_.emplace(*std::move(dir));
    steps_.emplace(*dir_);
  }
  void TearDown() override { dir_->remove(); }

  StepFiles take() {
    auto files = steps_->take();
    EXPECT_TRUE(files) << (files ? "" : files.error().message());
    return files ? *std::move(files) : StepFiles{};
  }
  /// As a call does at its end, when nobody holds its streams.
  void give_back(StepFiles files) {
    files.out.keep.reset();
    files.err.keep.reset();
    steps_->give_back(std::move(files));
    steps_->prepare();
  }
  [[nodiscard]] std::string out_of(const std::string& name) const {
    return dir_->write_side() + name + ".o";
  }
  static ino_t inode_of(const OutputFifo& fifo) {
    struct stat status{};
    EXPECT_EQ(fstat(fifo.read.get(), &status), 0);
    return status.st_ino;
  }

  test::TempDir state_;
  std::optional<SessionDir> dir_;
  std::optional<StepStore> steps_;
};

TEST_F(StepFilesTest, AFifoThatNobodyHoldsServesAgainUnderAnotherName) {
  StepFiles first = take();
  const std::string name = first.name;
  const std::string nonce = first.nonce;
  const ino_t inode = inode_of(first.out);
  give_back(std::move(first));
  const StepFiles second = take();
  EXPECT_EQ(inode_of(second.out), inode);
  EXPECT_NE(second.name, name);
  EXPECT_NE(second.nonce, nonce);
  EXPECT_FALSE(std::filesystem::exists(out_of(name)));
  EXPECT_TRUE(std::filesystem::is_fifo(out_of(second.name)));
  ASSERT_EQ(write(second.out.keep.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(second.out.read.get(), &byte, 1), 1);
}

TEST_F(StepFilesTest, AFifoThatSomebodyCanWriteToNeverServesAgain) {
  StepFiles first = take();
  const ino_t inode = inode_of(first.out);
  const os::UniqueFd writer(open(out_of(first.name).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(writer.is_open());
  // It holds the pipe even when the call had seen the end of it and it came by the name afterwards.
  give_back(std::move(first));
  const StepFiles second = take();
  EXPECT_NE(inode_of(second.out), inode);
}

TEST_F(StepFilesTest, WhatIsNotOursUnderItsNameNeverServesAgain) {
  StepFiles first = take();
  const std::string path = out_of(first.name);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/null", path);
  give_back(std::move(first));
  const StepFiles second = take();
  EXPECT_TRUE(std::filesystem::is_fifo(std::filesystem::symlink_status(out_of(second.name))));
}

TEST_F(StepFilesTest, AGrownPipeIsGivenUp) {
  StepFiles first = take();
  const ino_t inode = inode_of(first.out);
  ASSERT_GT(fcntl(first.out.read.get(), F_SETPIPE_SZ, 128 * 1024), 0);
  give_back(std::move(first));
  EXPECT_NE(inode_of(take().out), inode);
}

TEST_F(StepFilesTest, TheTextIsAFileOfItsOwnAndGoesWithItsStep) {
  StepFiles first = take();
  const std::string path = dir_->read_side() + first.name;
  ASSERT_TRUE(steps_->write_text(first, "echo ", "on\n"));
  EXPECT_EQ(test::read_file(path), "echo on\n");
  const os::UniqueFd reader(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  give_back(std::move(first));
  EXPECT_FALSE(std::filesystem::exists(path));
  StepFiles second = take();
  ASSERT_TRUE(steps_->write_text(second, "a secret"));
  char byte = 0;
  EXPECT_EQ(pread(reader.get(), &byte, 1, 8), 0) << "the old descriptor shows no later text";
}

}  // namespace
}  // namespace bawn::shell
