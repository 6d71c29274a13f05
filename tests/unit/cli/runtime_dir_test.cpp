#include "runtime_dir.hpp"

#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace bawn::cli {
namespace {

/// ctest gives each test a process of its own, so the variable disturbs nobody.
void choose(const std::filesystem::path& path) {
  ::setenv("BAWN_RUNTIME_DIR", path.c_str(), 1);
}

TEST(RuntimeDirTest, MakesTheDirectoryForItsOwnerOnly) {
  const test::TempDir dir;
  choose(dir.path() / "run");
  const auto path = runtime_dir();
  ASSERT_TRUE(path) << path.error().message();
  struct stat found{};
  ASSERT_EQ(::stat(path->c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, ::geteuid() == 0 ? 0711U : 0700U);
}

TEST(RuntimeDirTest, RefusesALinkThatSomebodyPutThere) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path() / "elsewhere");
  std::filesystem::create_symlink(dir.path() / "elsewhere", dir.path() / "run");
  choose(dir.path() / "run");
  const auto path = runtime_dir();
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code(), contract::ErrorCode::PermissionDenied);
}

TEST(RuntimeDirTest, RefusesADirectoryThatOthersCanWrite) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path() / "run");
  std::filesystem::permissions(dir.path() / "run", std::filesystem::perms::all);
  choose(dir.path() / "run");
  EXPECT_FALSE(runtime_dir());
}

}  // namespace
}  // namespace bawn::cli
