#include "scratch_directory.hpp"

#include "bawn/sandbox/remove_tree.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace bawn::sandbox {
namespace {

namespace fs = std::filesystem;

TEST(ScratchDirectory, IsPrivateAndGoneAtTheEnd) {
  std::string path;
  {
    const auto scratch = ScratchDirectory::make(::geteuid(), ::getegid());
    ASSERT_TRUE(scratch) << scratch.error().message();
    path = (*scratch)->path();
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700U);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(RemoveTree, RemovesLinksAndNotWhatTheyLeadTo) {
  const test::TempDir directory;
  const fs::path kept = directory.write("kept", "x");
  fs::create_directories(directory.path() / "tree/inner");
  fs::create_symlink(kept, directory.path() / "tree/link");
  fs::create_directory_symlink(directory.path(), directory.path() / "tree/inner/up");
  remove_tree((directory.path() / "tree").string());
  EXPECT_FALSE(fs::exists(directory.path() / "tree"));
  EXPECT_EQ(test::read_file(kept), "x");
}

TEST(RemoveTree, RemovesWhatItsOwnerHasNoPermissionTo) {
  const test::TempDir directory;
  const fs::path tree = directory.path() / "tree";
  fs::create_directories(tree / "a/b");
  fs::permissions(tree / "a", fs::perms::none);
  remove_tree(tree.string());
  EXPECT_FALSE(fs::exists(tree));
}

TEST(RemoveTree, RemovesTreesDeeperThanAnyDescriptorLimit) {
  const test::TempDir directory;
  const std::string tree = (directory.path() / "tree").string();
  ASSERT_EQ(::mkdir(tree.c_str(), 0700), 0);
  int at = ::open(tree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int level = 0; level < 3000; ++level) {
    ASSERT_EQ(::mkdirat(at, "d", 0700), 0);
    const int next = ::openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(at);
    at = next;
  }
  ::close(at);
  remove_tree(tree);
  EXPECT_NE(::access(tree.c_str(), F_OK), 0);
}

TEST(RemoveTree, AMissingPathIsNoMatter) {
  remove_tree("/nonexistent/bawn");
}

}  // namespace
}  // namespace bawn::sandbox
