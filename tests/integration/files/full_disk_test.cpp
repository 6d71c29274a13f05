/// \file
/// A workspace without room: the call says so, and what was there is there.
#include "tool_fixture.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace bawn::test {
namespace {

using contract::Json;
using ::testing::HasSubstr;

constexpr std::uint64_t kServersOwn = 64 * 1024;  ///< bytes, for its directories and records

/// All that the server has a workspace in is one megabyte, in a mount namespace of this process.
class FullDisk : public FileToolFixture {
 protected:
  void SetUp() override {
    BAWN_REQUIRE("root");
    BAWN_REQUIRE("landlock");
    if (::unshare(CLONE_NEWNS) != 0) {
      ASSERT_EQ(errno, EPERM);
      GTEST_SKIP() << "this root may not mount";
    }
    ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount("small", disk_.path().c_str(), "tmpfs", 0, "size=1m"), 0);
    ::setenv("BAWN_TEST_BASE", disk_.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    server_.emplace(kAllLayers);
    ASSERT_TRUE(server_->started());
  }
  void TearDown() override {
    server_.reset();
    ::unsetenv("BAWN_TEST_BASE");  // NOLINT(concurrency-mt-unsafe)
    ::umount2(disk_.path().c_str(), MNT_DETACH);
  }
  [[nodiscard]] std::uint64_t room() const {
    struct statvfs disk{};
    EXPECT_EQ(::statvfs(disk_.path().c_str(), &disk), 0);
    return disk.f_bfree * disk.f_frsize;
  }
  /// The file agent lets go of what it handed out once its answer is sent: a moment later.
  [[nodiscard]] bool comes_back(std::uint64_t free) const {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (room() + kServersOwn < free && std::chrono::steady_clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return room() + kServersOwn >= free;
  }
  void refused_for_room(const std::string& tool, const Json& arguments) {
    const auto before = names();
    const std::uint64_t free = room();
    EXPECT_THAT(fails(tool, arguments), HasSubstr("No space left on device"));
    EXPECT_EQ(names(), before);
    EXPECT_TRUE(comes_back(free));
  }

  TempDir disk_{"/var/lib"};
  const std::string big_ = std::string(2'000'000, 'x') + "\n";
};

TEST_F(FullDisk, ANewFileIsNotThere) {
  refused_for_room("write_file", {{"path", "new"}, {"content", big_}});
  refused_for_room("write_file",
                   {{"path", "deep/er/new"}, {"content", big_}, {"make_parents", true}});
  works("write_file", {{"path", "new"}, {"content", "small\n"}});
}

TEST_F(FullDisk, AnOldFileKeepsItsContentAndNumber) {
  server_->put("old", "old\n", 0640);
  const ino_t number = inode_of("old");
  refused_for_room("write_file", {{"path", "old"}, {"content", big_}});
  refused_for_room(
      "edit_file",
      {{"path", "old"}, {"edits", Json::array({{{"old_string", "old\n"}, {"new_string", big_}}})}});
  EXPECT_EQ(content("old"), "old\n");
  EXPECT_EQ(mode_of("old"), 0640U);
  EXPECT_EQ(inode_of("old"), number);
}

TEST_F(FullDisk, APatchThatHadTakenNamesAwayGivesThemBack) {
  server_->put("a", "a\n", 0640);
  server_->put("d/x", "x\n");
  ASSERT_EQ(::chmod(server_->in("d").c_str(), 0750), 0);
  const std::vector<ino_t> numbers{inode_of("a"), inode_of("d/x")};
  refused_for_room("apply_patch",
                   {{"patch",
                     "*** Begin Patch\n*** Update File: a\n*** Move to: a/x\n*** Delete File: d/x\n"
                     "*** Add File: d\n+d\n*** Add File: big\n+" +
                         big_ + "*** End Patch\n"}});
  EXPECT_EQ((std::vector<ino_t>{inode_of("a"), inode_of("d/x")}), numbers);
  EXPECT_EQ(content("a") + content("d/x"), "a\nx\n");
  EXPECT_EQ(mode_of("d"), 0750U);
}

}  // namespace
}  // namespace bawn::test
