/// \file
/// Taking changes back: the very file that was changed or none, and what was done to it since.
#include "tool_fixture.hpp"

#include <sys/xattr.h>
#include <unistd.h>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;
using contract::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Undo : public FileToolFixture {
 protected:
  std::string edit(const std::string& path) {
    return changes("edit_file", Json{{"path", path}, {"old_string", "old"}, {"new_string", "new"}});
  }
  void undo(const std::string& call, bool force = false) {
    works("undo_change", Json{{"call", call}, {"force", force}});
  }
  std::string refuses(const std::string& call) {
    return fails("undo_change", Json{{"call", call}});
  }
};

TEST_F(Undo, ALinkThatLeadsElsewhereSinceIsNoWayToAnotherFile) {
  server_->put("one", "old\n");
  server_->put("two", "new\n");
  fs::create_symlink("one", server_->in("link"));
  const std::string call = edit("link");
  fs::remove(server_->in("link"));
  fs::create_symlink("two", server_->in("link"));
  EXPECT_THAT(refuses(call), HasSubstr("link leads elsewhere now than to one"));
  EXPECT_EQ(content("one"), "new\n");
  undo(call, true);
  EXPECT_EQ(content("one"), "old\n");
  EXPECT_EQ(content("two"), "new\n");
}

TEST_F(Undo, ADirectoryOnTheWayThatIsAnotherSinceIsNoWayEither) {
  server_->put("a/file", "old\n");
  server_->put("b/file", "new\n");
  fs::create_symlink("a", server_->in("way"));
  const std::string call = edit("way/file");
  fs::remove(server_->in("way"));
  fs::create_symlink("b", server_->in("way"));
  EXPECT_THAT(refuses(call), HasSubstr("leads elsewhere"));
  undo(call, true);
  EXPECT_EQ(content("a/file"), "old\n");
  EXPECT_EQ(content("b/file"), "new\n");
}

TEST_F(Undo, AnotherFileOfTheSameNameAndContentIsLeftAlone) {
  server_->put("file", "old\n");
  const std::string call = edit("file");
  server_->put("other", "new\n");
  fs::rename(server_->in("other"), server_->in("file"));
  EXPECT_THAT(refuses(call), HasSubstr("is another file now"));
  EXPECT_EQ(content("file"), "new\n");
  undo(call, true);
  EXPECT_EQ(content("file"), "old\n");
}

TEST_F(Undo, ALinkInThePlaceOfTheFileIsNeverWrittenThrough) {
  server_->put("file", "old\n");
  server_->put("victim", "new\n");
  const std::string call = edit("file");
  fs::remove(server_->in("file"));
  fs::create_symlink("victim", server_->in("file"));
  EXPECT_THAT(refuses(call), HasSubstr("symbolic link"));
  EXPECT_THAT(fails("undo_change", Json{{"call", call}, {"force", true}}),
              HasSubstr("symbolic link"));
  EXPECT_EQ(content("victim"), "new\n");
}

TEST_F(Undo, ADirectoryThatIsALinkSinceIsNeverWrittenThrough) {
  const auto both_refuse = [&](const std::string& call) {
    EXPECT_THAT(refuses(call), HasSubstr("way is a symbolic link now and was a directory"));
    EXPECT_THAT(fails("undo_change", Json{{"call", call}, {"force", true}}),
                HasSubstr("way is a symbolic link now and was a directory"));
  };
  server_->put("way/file", "old\n");
  server_->put("victim/file", "precious\n");
  const std::string edited = edit("way/file");
  const std::string made = changes("write_file", Json{{"path", "way/made"}, {"content", "made\n"}});
  const std::string gone =
      changes("apply_patch",
              Json{{"patch", "*** Begin Patch\n*** Delete File: way/file\n*** End Patch\n"}});
  server_->put("victim/made", "precious\n");
  fs::rename(server_->in("way"), server_->in("away"));
  fs::create_symlink("victim", server_->in("way"));
  for (const std::string& call : {gone, made, edited}) {
    both_refuse(call);
  }
  EXPECT_EQ(content("victim/file"), "precious\n");
  EXPECT_EQ(content("victim/made"), "precious\n");
  fs::remove(server_->in("way"));
  fs::rename(server_->in("away"), server_->in("way"));
  undo(gone);
  EXPECT_EQ(content("way/file"), "new\n") << "the control";
}

TEST_F(Undo, AModeThatWasChangedThroughALinkComesBack) {
  server_->put("a/file", "old\n", 0644);
  fs::create_symlink("a", server_->in("way"));
  const std::string call = changes(
      "apply_patch",
      Json{{"patch", "diff --git a/way/file b/way/file\nold mode 100644\nnew mode 100755\n"}});
  undo(call);
  EXPECT_EQ(fs::status(server_->in("a/file")).permissions(), static_cast<fs::perms>(0644));
}

TEST_F(Undo, ALaterModeStaysAndIsSaid) {
  server_->put("file", "old\n", 0644);
  const std::string call = edit("file");
  ASSERT_EQ(::chmod(server_->in("file").c_str(), 0600), 0);
  const ToolAnswer answer = works("undo_change", Json{{"call", call}});
  EXPECT_THAT(answer.text, HasSubstr("its mode was changed since and stays 0600"));
  EXPECT_EQ(content("file"), "old\n");
  EXPECT_EQ(mode_of("file"), 0600U);
}

TEST_F(Undo, AModeThatTheCallSetGoesBack) {
  server_->put("file", "old\n", 0644);
  const std::string call =
      changes("write_file", Json{{"path", "file"}, {"content", "new\n"}, {"mode", "755"}});
  EXPECT_EQ(mode_of("file"), 0755U);
  undo(call);
  EXPECT_EQ(mode_of("file"), 0644U);
}

TEST_F(Undo, ARenameComesBackAsTheSameFile) {
  server_->put("from", "text\n", 0640);
  const ino_t file = inode_of("from");
  const auto time = status_of("from").st_mtim;
  const std::string call = changes(
      "apply_patch", Json{{"patch",
                           "diff --git a/from b/dir/to\nsimilarity index 100%\nrename from from\n"
                           "rename to dir/to\n"}});
  EXPECT_EQ(inode_of("dir/to"), file);
  undo(call);
  EXPECT_EQ(inode_of("from"), file);
  EXPECT_EQ(status_of("from").st_mtim.tv_nsec, time.tv_nsec);
  EXPECT_THAT(names(), ElementsAre("from"));
}

TEST_F(Undo, DirectoriesThatWereMadeGoWhenNothingElseIsInThem) {
  const std::string one =
      changes("write_file", Json{{"path", "a/b/one"}, {"content", "1"}, {"make_parents", true}});
  const std::string two =
      changes("write_file", Json{{"path", "c/d/two"}, {"content", "2"}, {"make_parents", true}});
  server_->put("c/mine", "mine\n");
  undo(one);
  undo(two);
  EXPECT_THAT(names(), ElementsAre("c", "c/mine"));
}

TEST_F(Undo, ARemovedFileComesBackWithWhatCanBeHad) {
  server_->put("file", "text\n", 0640);
  const bool attributes = ::setxattr(server_->in("file").c_str(), "user.note", "n", 1, 0) == 0;
  const std::string call = changes(
      "apply_patch", Json{{"patch", "*** Begin Patch\n*** Delete File: file\n*** End Patch\n"}});
  EXPECT_THAT(names(), ElementsAre());
  undo(call);
  EXPECT_EQ(content("file"), "text\n");
  EXPECT_EQ(mode_of("file"), 0640U);
  char value = 0;
  if (attributes) {
    EXPECT_EQ(::getxattr(server_->in("file").c_str(), "user.note", &value, 1), 1);
  }
}

TEST_F(Undo, OwnersAndBitsThatARemovalLostAreSaid) {
  BAWN_REQUIRE("root");
  server_->put("file", "text\n");
  ASSERT_EQ(::chown(server_->in("file").c_str(), 4242, 4243), 0);
  ASSERT_EQ(::chmod(server_->in("file").c_str(), 04755), 0);
  const std::string call = changes(
      "apply_patch", Json{{"patch", "*** Begin Patch\n*** Delete File: file\n*** End Patch\n"}});
  const std::string text = works("undo_change", Json{{"call", call}}).text;
  EXPECT_THAT(text, HasSubstr("is now the session's"));
  EXPECT_THAT(text, HasSubstr("setuid"));
}

TEST_F(Undo, AnUndoIsTakenBackLikeAnyChange) {
  server_->put("file", "old\n");
  const std::string call = edit("file");
  const std::string undone = changes("undo_change", Json{{"call", call}});
  EXPECT_EQ(content("file"), "old\n");
  undo(undone);
  EXPECT_EQ(content("file"), "new\n");
}

}  // namespace
}  // namespace bawn::test
