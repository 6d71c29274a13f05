#include "patch.hpp"
#include "patch_apply.hpp"

#include <gmock/gmock.h>

namespace bawn::files {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto patch = parse_patch(text);
  return patch ? "no error" : patch.error().message();
}

TEST(UnifiedPatch, ReadsGitsHeaders) {
  const auto patch = parse_patch(
      "commit message\n\ndiff --git a/old name b/new name\nsimilarity index 90%\n"
      "rename from old name\nrename to new name\nindex 1..2 100644\n"
      "--- a/old name\t\n+++ b/new name\t\n@@ -1 +1 @@\n-a\n+b\n"
      "diff --git a/x.sh b/x.sh\nold mode 100644\nnew mode 100755\n"
      "diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n"
      "diff --git \"a/caf\\303\\251\" \"b/caf\\303\\251\"\nnew file mode 100644\nindex 0..1\n"
      "--- /dev/null\n+++ \"b/caf\\303\\251\"\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
  ASSERT_TRUE(patch) << patch.error().message();
  ASSERT_EQ(patch->files.size(), 4U);
  EXPECT_EQ(patch->files[0].kind, FilePatch::Kind::Rename);
  EXPECT_EQ(patch->files[0].old_path, "old name");
  EXPECT_EQ(patch->files[0].new_path, "new name");
  EXPECT_EQ(patch->files[1].new_mode, 0755U);
  EXPECT_EQ(patch->files[2].kind, FilePatch::Kind::Delete);
  EXPECT_EQ(patch->files[3].new_path, "caf\xC3\xA9");
  EXPECT_EQ(patch->files[3].hunks[0].lines[0].text, "x");
}

TEST(UnifiedPatch, ReadsPlainDiffs) {
  const auto patch =
      parse_patch("--- old/x.c\t2020-01-01\n+++ old/x.c\t2020-01-02\n@@ -1 +1 @@\n-a\n+b\n");
  ASSERT_TRUE(patch) << patch.error().message();
  EXPECT_EQ(patch->files[0].new_path, "old/x.c");
}

TEST(UnifiedPatch, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(error_of("hello\n"), StartsWith("patch line 1: this is no patch"));
  EXPECT_THAT(error_of("@@ -1 +1 @@\n-a\n+b\n"), StartsWith("patch line 1: a hunk without a file"));
  EXPECT_THAT(error_of("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n"), StartsWith("patch line 5: "));
  EXPECT_THAT(error_of("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n"),
              StartsWith("patch line 6: this line is behind the end"));
  EXPECT_THAT(error_of("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\nx\n"),
              StartsWith("patch line 6: "));
  EXPECT_THAT(error_of("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n\\ No newline\n\\ No newline\n"),
              StartsWith("patch line 6: "));
  EXPECT_THAT(error_of("--- a/x\n+++ b/x\n@@ one @@\n"), StartsWith("patch line 3: expected \"@@"));
  EXPECT_THAT(error_of("diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\n"),
              StartsWith("patch line 3: binary changes"));
  EXPECT_THAT(error_of("diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n"),
              StartsWith("patch line 3: binary changes"));
  EXPECT_THAT(error_of("diff --git a/x b/x\nnew file mode 120000\n"),
              StartsWith("patch line 2: symbolic links"));
  EXPECT_THAT(error_of("diff --git a/x b/x\nnew file mode 160000\n"),
              StartsWith("patch line 2: submodules"));
  EXPECT_THAT(error_of("diff --git a/x b/x\n"), StartsWith("patch line 1: nothing is said"));
  EXPECT_THAT(error_of("diff --git a/x b/y\nrename from x\n"),
              StartsWith("patch line 1: a rename"));
  EXPECT_THAT(error_of("--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
              StartsWith("patch line 3: a new file has only"));
}

std::string applied(std::string_view before, std::string_view hunks, unsigned fuzz = 0) {
  const auto patch = parse_patch("--- a/x\n+++ b/x\n" + std::string(hunks));
  if (!patch) {
    return patch.error().message();
  }
  const auto result = apply_hunks("x", before, patch->files[0].hunks, {.fuzz = fuzz});
  return result ? result->text : result.error().message();
}

TEST(ApplyHunks, FindMovedPlacesAndReportTheOffset) {
  const auto patch = parse_patch("--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n a\n-b\n+B\n c\n");
  ASSERT_TRUE(patch);
  const auto result = apply_hunks("x", "1\n2\n3\n4\na\nb\nc\n", patch->files[0].hunks, {});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->text, "1\n2\n3\n4\na\nB\nc\n");
  EXPECT_EQ(result->places[0].offset, 3);
  EXPECT_EQ(result->places[0].line, 5U);
}

TEST(ApplyHunks, RefuseWhatDoesNotMatchWithoutFuzz) {
  constexpr std::string_view kHunk = "@@ -2,3 +2,3 @@\n a\n-b\n+B\n c\n";
  EXPECT_THAT(applied("0\na\nb\nother\nz\n", kHunk),
              StartsWith("patch line 3: x: the hunk does not"));
  EXPECT_EQ(applied("0\na\nb\nother\nz\n", kHunk, 1), "0\na\nB\nother\nz\n");
}

TEST(ApplyHunks, MissingFinalNewlineMustAgree) {
  EXPECT_EQ(applied("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"), "b\n");
  EXPECT_THAT(applied("a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"),
              HasSubstr("does not apply"));
}

TEST(ApplyHunks, AFileOfCrlfTakesAPatchOfLf) {
  EXPECT_EQ(applied("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\n+x\n b\n"), "x\r\nb\r\n");
}

TEST(ApplyHunks, ASearchThatIsMadeToBeSlowEnds) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) {
    text += "a\n";
  }
  std::string hunk = "@@ -5,10001 +5,10001 @@\n";
  for (int i = 0; i < 10'000; ++i) {
    hunk += " a\n";
  }
  hunk += "-b\n+c\n";
  EXPECT_THAT(applied(text + "z\n", hunk + ""), StartsWith("patch line 3: x: "));
}

}  // namespace
}  // namespace bawn::files
