/// \file
/// What a patch does to the files themselves: which of them stay the same ones, and that a patch
/// which fails leaves every one as it was.
#include "bawn/os/unique_fd.hpp"
#include "git_repository.hpp"
#include "tool_fixture.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <map>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;
using contract::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kRename =
    "diff --git a/from b/to\nsimilarity index 100%\nrename from from\nrename to to\n";

class PatchedFiles : public FileToolFixture {
 protected:
  ToolAnswer patch(const std::string& text) { return works("apply_patch", Json{{"patch", text}}); }
};

TEST_F(PatchedFiles, ARenamedFileIsTheSameFile) {
  server_->put("from", "text\n", 0640);
  const auto before = status_of("from");
  const bool attributes = ::setxattr(server_->in("from").c_str(), "user.note", "n", 1, 0) == 0;
  const ToolAnswer answer = patch(kRename);
  EXPECT_EQ(answer.structured["files"][0]["change"], "renamed");
  EXPECT_EQ(answer.structured["files"][0]["from"], server_->in("from").string());
  const auto after = status_of("to");
  EXPECT_EQ(after.st_ino, before.st_ino);
  EXPECT_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  EXPECT_EQ(after.st_mode, before.st_mode);
  char value = 0;
  if (attributes) {
    EXPECT_EQ(::getxattr(server_->in("to").c_str(), "user.note", &value, 1), 1);
  }
  EXPECT_THAT(names(), ElementsAre("to"));
}

TEST_F(PatchedFiles, ARenameWithChangesKeepsModeOwnerAndAttributes) {
  server_->put("from", "one\ntwo\n", 0640);
  const bool attributes = ::setxattr(server_->in("from").c_str(), "user.note", "n", 1, 0) == 0;
  patch(
      "diff --git a/from b/to\nsimilarity index 50%\nrename from from\nrename to to\n--- a/from\n"
      "+++ b/to\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n");
  EXPECT_EQ(content("to"), "one\nthree\n");
  EXPECT_EQ(mode_of("to"), 0640U);
  char value = 0;
  if (attributes) {
    EXPECT_EQ(::getxattr(server_->in("to").c_str(), "user.note", &value, 1), 1);
  }
  EXPECT_THAT(names(), ElementsAre("to"));
}

TEST_F(PatchedFiles, ChainsAndSwapsOfNamesGiveEachItsContent) {
  server_->put("a", "a\n");
  server_->put("b", "b\n");
  const std::string swap =
      "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"
      "diff --git a/b b/a\nsimilarity index 100%\nrename from b\nrename to a\n";
  patch(swap);
  EXPECT_EQ(content("a"), "b\n");
  EXPECT_EQ(content("b"), "a\n");
  const std::string chain =
      "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"
      "diff --git a/b b/c\nsimilarity index 100%\nrename from b\nrename to c\n";
  patch(chain);
  EXPECT_EQ(content("b"), "b\n");
  EXPECT_EQ(content("c"), "a\n");
  EXPECT_THAT(names(), ElementsAre("b", "c"));
}

TEST_F(PatchedFiles, AModeAloneChangesTheFileItself) {
  server_->put("script", "text\n", 0644);
  const ino_t file = inode_of("script");
  const std::string call =
      changes("apply_patch",
              Json{{"patch", "diff --git a/script b/script\nold mode 100644\nnew mode 100755\n"}});
  EXPECT_EQ(mode_of("script"), 0755U);
  EXPECT_EQ(inode_of("script"), file);
  works("undo_change", Json{{"call", call}});
  EXPECT_EQ(mode_of("script"), 0644U);
  EXPECT_EQ(inode_of("script"), file);
}

TEST_F(PatchedFiles, TwoSpellingsOfOnePathAreOneFile) {
  server_->put("d/file", "1\n2\n3\n4\n5\n6\n7\n8\n");
  patch(
      "*** Begin Patch\n*** Update File: d/file\n-1\n+one\n*** Update File: ./d//file\n-8\n+eight\n"
      "*** Update File: " +
      server_->in("d/file").string() + "\n-4\n+four\n*** End Patch\n");
  EXPECT_EQ(content("d/file"), "one\n2\n3\nfour\n5\n6\n7\neight\n");
  patch("--- a/d/./file\n+++ b/d/./file\n@@ -1,2 +1,2 @@\n-one\n+1\n 2\n");
  EXPECT_EQ(content("d/file"), "1\n2\n3\nfour\n5\n6\n7\neight\n");
}

TEST_F(PatchedFiles, TwoNamesOfOneFileAreRefusedBeforeAnythingIsWritten) {
  server_->put("one", "a\n");
  fs::create_hard_link(server_->in("one"), server_->in("two"));
  EXPECT_THAT(
      fails("apply_patch", Json{{"patch",
                                 "*** Begin Patch\n*** Update File: one\n-a\n+b\n*** Update "
                                 "File: two\n-a\n+c\n*** End Patch\n"}}),
      HasSubstr("one and two are one file"));
  EXPECT_EQ(content("one"), "a\n");
  EXPECT_EQ(content("two"), "a\n");
}

TEST_F(PatchedFiles, AFailedPatchGivesBackTheVeryFiles) {
  server_->put("changed", "old\n", 0640);
  server_->put("moved", "old\n");
  server_->put("gone", "old\n");
  server_->put("mode", "old\n");
  fs::create_hard_link(server_->in("changed"), server_->in("changed-too"));
  server_->put("locked/file", "old\n");
  const auto inodes = [&] {
    return std::vector<ino_t>{inode_of("changed"), inode_of("changed-too"),
                              inode_of("moved"),   inode_of("gone"),
                              inode_of("mode"),    inode_of("locked/file")};
  };
  const auto before = inodes();
  const auto listed = names();
  // Its directory cannot be written to: found out when everything before it is done.
  ASSERT_EQ(::chmod(server_->in("locked").c_str(), 0555), 0);
  const std::string why = fails(
      "apply_patch",
      Json{{"patch",
            "*** Begin Patch\n*** Update File: changed\n-old\n+new\n*** Add File: made/for/it\n"
            "+new\n*** Update File: moved\n*** Move to: away/there\n-old\n+new\n*** Delete File: "
            "gone\n*** Delete File: locked/file\n*** End Patch\n"}});
  EXPECT_THAT(why, HasSubstr("nothing was changed"));
  ASSERT_EQ(::chmod(server_->in("locked").c_str(), 0755), 0);
  EXPECT_EQ(inodes(), before);
  EXPECT_EQ(names(), listed);
  for (const char* name : {"changed", "changed-too", "moved", "gone", "locked/file"}) {
    EXPECT_EQ(content(name), "old\n") << name;
  }
  EXPECT_EQ(status_of("changed").st_nlink, 2U);
}

TEST_F(PatchedFiles, FilesBecomeDirectoriesAndDirectoriesFiles) {
  server_->put("a", "a\n", 0640);
  server_->put("d/x", "x\n");
  server_->put("d/e/y", "y\n", 0600);
  const std::vector<std::string> before = names();
  const std::string patch =
      "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
      "diff --git a/a/b/c b/a/b/c\nnew file mode 100644\n--- /dev/null\n+++ b/a/b/c\n"
      "@@ -0,0 +1 @@\n+c\n"
      "diff --git a/d/x b/d\nsimilarity index 100%\nrename from d/x\nrename to d\n"
      "diff --git a/d/e/y b/d/e/y\ndeleted file mode 100644\n--- a/d/e/y\n+++ /dev/null\n"
      "@@ -1 +0,0 @@\n-y\n";
  for (int round = 0; round < 2; ++round) {
    const std::string call = changes("apply_patch", Json{{"patch", patch}});
    EXPECT_THAT(names(), ElementsAre("a", "a/b", "a/b/c", "d"));
    EXPECT_EQ(content("a/b/c"), "c\n");
    EXPECT_EQ(content("d"), "x\n");
    const std::string undo = changes("undo_change", Json{{"call", call}});
    EXPECT_EQ(names(), before);
    EXPECT_EQ(content("a"), "a\n");
    EXPECT_EQ(mode_of("a"), 0640U);
    EXPECT_EQ(content("d/x"), "x\n");
    EXPECT_EQ(mode_of("d/e/y"), 0600U);
    if (round == 0) {
      works("undo_change", Json{{"call", undo}});
      EXPECT_THAT(names(), ElementsAre("a", "a/b", "a/b/c", "d"));
      // And back by hand, so that the same patch fits again.
      fs::remove_all(server_->in("a"));
      fs::remove(server_->in("d"));
      server_->put("a", "a\n", 0640);
      server_->put("d/x", "x\n");
      server_->put("d/e/y", "y\n", 0600);
    }
  }
}

TEST_F(PatchedFiles, DirectoriesThatAPatchLeavesEmptyGoAndComeBackWithTheirModes) {
  server_->put("a/b/c/gone", "x\n");
  server_->put("a/b/moved", "m\n");
  server_->put("keep/gone", "x\n");
  server_->put("keep/stays", "s\n");
  server_->put("shared/sub/gone", "x\n");
  server_->put("shared/stays", "s\n");
  ASSERT_EQ(::chmod(server_->in("a/b/c").c_str(), 01770), 0);
  ASSERT_EQ(::chmod(server_->in("a").c_str(), 0700), 0);
  ASSERT_EQ(::chmod(server_->in("shared").c_str(), 02775), 0);
  ASSERT_EQ(::chmod(server_->in("shared/sub").c_str(), 02775), 0);
  const std::vector<std::string> before = names();
  std::string text =
      "diff --git a/a/b/moved b/moved\nsimilarity index 100%\nrename from a/b/moved\n"
      "rename to moved\n";
  for (const std::string name : {"a/b/c/gone", "keep/gone", "shared/sub/gone"}) {
    text += "diff --git a/" + name + " b/" + name + "\ndeleted file mode 100644\n--- a/" + name +
            "\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
  }
  std::string call = changes("apply_patch", Json{{"patch", text}});
  const std::vector<std::string> patched = names();
  EXPECT_THAT(patched, ElementsAre("keep", "keep/stays", "moved", "shared", "shared/stays"));
  for (int round = 0; round < 2; ++round) {
    call = changes("undo_change", Json{{"call", call}});
    EXPECT_EQ(names(), before);
    EXPECT_EQ(mode_of("a"), 0700U);
    EXPECT_EQ(mode_of("a/b"), 0755U);
    EXPECT_EQ(mode_of("a/b/c"), 01770U);
    EXPECT_EQ(mode_of("shared/sub"), 02775U) << "the bit is inherited";
    call = changes("undo_change", Json{{"call", call}});
    EXPECT_EQ(names(), patched);
  }
}

TEST_F(PatchedFiles, ADirectoryThatBecameAFileComesBackWithItsMode) {
  server_->put("d/x", "x\n");
  ASSERT_EQ(::chmod(server_->in("d").c_str(), 01750), 0);
  const std::string call = changes(
      "apply_patch", Json{{"patch",
                           "diff --git a/d/x b/d/x\ndeleted file mode 100644\n--- a/d/x\n"
                           "+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/d b/d\n"
                           "new file mode 100644\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+d\n"}});
  EXPECT_EQ(content("d"), "d\n");
  works("undo_change", Json{{"call", call}});
  EXPECT_EQ(content("d/x"), "x\n");
  EXPECT_EQ(mode_of("d"), 01750U);
}

TEST_F(PatchedFiles, EmptiedDirectoriesOutsideThePatchsOwnStay) {
  server_->put("top/inner/gone", "x\n");
  works("apply_patch", Json{{"directory", "top/inner"},
                            {"patch", "*** Begin Patch\n*** Delete File: gone\n*** End Patch\n"}});
  EXPECT_THAT(names(), ElementsAre("top", "top/inner"));
  server_->put("real/dir/gone", "x\n");
  fs::create_directory_symlink("real/dir", server_->in("link"));
  patch("*** Begin Patch\n*** Delete File: link/gone\n*** End Patch\n");
  EXPECT_THAT(names(), ElementsAre("link", "real", "real/dir", "top", "top/inner"))
      << "a link is no directory that the patch emptied, and what it leads to is elsewhere";
}

/// Type, the owner's right to execute, and content of all below a directory.
std::map<std::string, std::string> tree_of(const fs::path& root) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const bool runs = (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    tree[entry.path().lexically_relative(root)] =
        entry.is_directory() ? "directory" : (runs ? "755 " : "644 ") + read_file(entry.path());
  }
  return tree;
}

TEST_F(PatchedFiles, LeaveTheDirectoriesThatGitLeaves) {
  BAWN_REQUIRE("git");
  const RandomHistory history(31, 40);
  const GitRepository repository(history.directory());
  const TempDir scratch;
  const GitRepository by_git(scratch.path());
  std::string from = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";  // git's empty tree
  const std::vector<std::string> commits = repository.commits();
  int emptied = 0;
  std::size_t refused = 0;
  for (auto to = commits.rbegin(); to != commits.rend(); from = *to++) {
    const auto before = tree_of(scratch.path());
    std::string diff = repository.git({"diff", "-M", from, *to}).value_or("");
    if (diff.empty()) {
      continue;
    }
    if (server_->call("apply_patch", Json{{"patch", diff}}).failed) {
      ++refused;  // a rename into or out of what the same patch turns from file to directory
      diff = repository.git({"diff", "--no-renames", from, *to}).value_or("");
      works("apply_patch", Json{{"patch", diff}});
    }
    ASSERT_TRUE(by_git.git({"apply", "--whitespace=nowarn", "-"}, diff)) << diff;
    const auto after = tree_of(scratch.path());
    ASSERT_EQ(tree_of(server_->in("")), after) << diff;
    emptied += std::ranges::any_of(before, [&](const auto& entry) {
      return entry.second == "directory" && !after.contains(entry.first);
    });
  }
  EXPECT_GE(emptied, 1);
  EXPECT_LT(refused, commits.size() / 2);
}

TEST_F(PatchedFiles, WhatIsRefusedBehindEmptiedDirectoriesIsRefusedBeforeTheyGo) {
  server_->put("a", "a\n", 0640);
  server_->put("d/x", "x\n");
  ASSERT_EQ(::chmod(server_->in("d").c_str(), 0750), 0);
  server_->put("locked/file", "old\n");
  const auto before = names();
  const os::UniqueFd held(::open(server_->in("d").c_str(), O_PATH | O_CLOEXEC));
  const std::vector<ino_t> inodes{inode_of("a"), inode_of("d"), inode_of("locked/file")};
  ASSERT_EQ(::chmod(server_->in("locked").c_str(), 0555), 0);
  const std::string why =
      fails("apply_patch",
            Json{{"patch",
                  "*** Begin Patch\n*** Update File: a\n*** Move to: a/x\n*** Delete File: d/x\n"
                  "*** Add File: d\n+d\n*** Delete File: locked/file\n*** End Patch\n"}});
  EXPECT_THAT(why, HasSubstr("patch line 7: "));
  ASSERT_EQ(::chmod(server_->in("locked").c_str(), 0755), 0);
  EXPECT_EQ(names(), before);
  EXPECT_EQ((std::vector<ino_t>{inode_of("a"), inode_of("d"), inode_of("locked/file")}), inodes);
  EXPECT_EQ(mode_of("d"), 0750U);
}

TEST_F(PatchedFiles, AbsolutePathsOfTheMarkedFormGoWhereTheWallAllows) {
  server_->put("d/file", "old\n");
  const auto edit = [](const std::string& path) {
    return Json{
        {"patch", "*** Begin Patch\n*** Update File: " + path + "\n-old\n+new\n*** End Patch\n"},
        {"directory", "elsewhere"}};
  };
  works("apply_patch", edit(server_->in("d/file")));
  EXPECT_EQ(content("d/file"), "new\n");
  works("apply_patch",
        Json{{"patch", "*** Begin Patch\n*** Add File: /tmp/by-patch\n+new\n*** End Patch\n"}});
  EXPECT_THAT(fails("apply_patch",
                    Json{{"patch", "*** Begin Patch\n*** Add File: " +
                                       server_->out("new").string() + "\n+new\n*** End Patch\n"}}),
              HasSubstr("patch line 2: cannot write"));
  EXPECT_THAT(fails("apply_patch", edit("../d/file")), HasSubstr("stay below its directory"));
  EXPECT_THAT(fails("apply_patch", Json{{"patch", "--- " + server_->in("d/file").string() +
                                                      "\n+++ " + server_->in("d/file").string() +
                                                      "\n@@ -1 +1 @@\n-new\n+x\n"}}),
              HasSubstr("\"*** Begin Patch\" takes others"));
}

TEST_F(PatchedFiles, ASentenceAboutAPatchSaysPatch) {
  server_->put("file", "\tone\n");
  const std::string text =
      fails("apply_patch", Json{{"patch",
                                 "*** Begin Patch\n*** Update File: file\n-    one\n+two\n*** "
                                 "End Patch\n"}});
  EXPECT_THAT(text, HasSubstr("the patch has spaces"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("old_string")));
}

TEST_F(PatchedFiles, AMissingLastNewlineIsSaid) {
  server_->put("file", "one\ntwo");
  EXPECT_THAT(
      fails("edit_file", Json{{"path", "file"}, {"old_string", "two\n"}, {"new_string", ""}}),
      HasSubstr("the file ends without one"));
}

}  // namespace
}  // namespace bawn::test
