#include "session_dir.hpp"

#include "bawn/shell/session.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>

namespace bawn::shell {
namespace {

std::string prepare(const test::TempDir& state) {
  const auto path = Session::prepare_directory(state.path(), geteuid(), getegid());
  EXPECT_TRUE(path) << path.error().message();
  return path.value_or("");
}

TEST(SessionDir, NeitherSideCanBeListedByMode) {
  const test::TempDir state;
  const std::string path = prepare(state);
  for (const char* side : {"/r", "/w"}) {
    struct stat status{};
    ASSERT_EQ(stat((path + side).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0300U);
  }
}

TEST(SessionDir, RemovesItselfWithAllItHolds) {
  const test::TempDir state;
  const std::string path = prepare(state);
  test::TempDir outside;
  outside.write("kept", "x");
  {
    const auto dir = SessionDir::open(path);
    ASSERT_TRUE(dir) << dir.error().message();
    ASSERT_TRUE(dir->write_text("text", "a", "b"));
    ASSERT_TRUE(dir->make_output("out"));
    std::filesystem::create_directory_symlink(outside.path(), path + "/tmp/link");
    dir->remove();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(outside.path() / "kept")) << "links are not followed";
}

TEST(SessionDir, NeverOpensWhatACommandPutInAFifosPlace) {
  const test::TempDir state;
  const auto dir = SessionDir::open(prepare(state));
  ASSERT_TRUE(dir);
  const auto secret = state.write("secret", "secret");
  std::atomic<bool> done = false;
  // As a command would where no layer keeps it from renaming: a link over each new name.
  std::thread attacker([&] {
    const std::string link = state.path() / "link";
    for (int round = 0; !done; ++round) {
      std::error_code ignored;
      std::filesystem::create_symlink(secret, link, ignored);
      ::rename(link.c_str(), (dir->write_side() + "out").c_str());
    }
  });
  for (int round = 0; round < 2000; ++round) {
    const auto fifo = dir->make_output("out");
    if (fifo) {
      struct stat found{};
      EXPECT_EQ(fstat(fifo->read.get(), &found), 0);
      EXPECT_TRUE(S_ISFIFO(found.st_mode));
    }
    dir->remove_output("out");
  }
  done = true;
  attacker.join();
  dir->remove();
}

TEST(SessionDir, ATextIsWrittenOnceUnderItsName) {
  const test::TempDir state;
  const auto dir = SessionDir::open(prepare(state));
  ASSERT_TRUE(dir);
  ASSERT_TRUE(dir->write_text("name", "a", "b"));
  EXPECT_EQ(test::read_file(dir->read_side() + "name"), "ab");
  const auto again = dir->write_text("name", "c");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().errnum(), EEXIST);
  dir->remove();
}

TEST(SessionDir, TheNextServerRemovesWhatADeadOneLeft) {
  const test::TempDir state;
  const std::string abandoned = prepare(state);
  {
    const auto dir = SessionDir::open(abandoned);  // its lock goes with it, its directory stays
    ASSERT_TRUE(dir);
  }
  const std::string live = prepare(state);
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  const auto holder = SessionDir::open(live);
  ASSERT_TRUE(holder);
  const std::string fresh = prepare(state);
  EXPECT_TRUE(std::filesystem::exists(live)) << "its server lives";
  std::ignore = prepare(state);
  EXPECT_TRUE(std::filesystem::exists(fresh)) << "it is just being made";
  EXPECT_FALSE(SessionDir::open(live)) << "one server at a time";
  holder->remove();
}

TEST(SessionDir, RefusesARelativeStateDirectory) {
  const auto path = Session::prepare_directory("state", geteuid(), getegid());
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code(), contract::ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace bawn::shell
