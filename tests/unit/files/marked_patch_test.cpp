#include "patch.hpp"
#include "patch_apply.hpp"

#include <gmock/gmock.h>

namespace bawn::files {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string applied(std::string_view before, const std::string& body, unsigned fuzz = 0) {
  const auto patch =
      parse_patch("*** Begin Patch\n*** Update File: x\n" + body + "*** End Patch\n");
  if (!patch) {
    return patch.error().message();
  }
  const auto result = apply_hunks("x", before, patch->files[0].hunks, {.fuzz = fuzz});
  return result ? result->text : result.error().message();
}

TEST(MarkedPatch, ReadsAllItsParts) {
  const auto patch = parse_patch(
      "*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** Delete File: gone.txt\n"
      "*** Update File: a.py\n*** Move to: b.py\n@@ def f():\n-    1\n+    2\n"
      "*** Update File: c\n@@\n x\n+y\n*** End of File\n*** End Patch");
  ASSERT_TRUE(patch) << patch.error().message();
  ASSERT_EQ(patch->files.size(), 4U);
  EXPECT_EQ(patch->files[0].hunks[0].lines.size(), 2U);
  EXPECT_EQ(patch->files[1].kind, FilePatch::Kind::Delete);
  EXPECT_EQ(patch->files[2].kind, FilePatch::Kind::Rename);
  EXPECT_EQ(patch->files[2].new_path, "b.py");
  EXPECT_EQ(patch->files[2].hunks[0].anchors[0], "def f():");
  EXPECT_TRUE(patch->files[3].hunks[0].at_end);
}

TEST(MarkedPatch, AppliesByContextAndAnchors) {
  EXPECT_EQ(applied("a\nb\nc\n", "@@\n a\n-b\n+B\n"), "a\nB\nc\n");
  EXPECT_EQ(applied("def f():\n  pass\ndef g():\n  pass\n", "@@ def g():\n-  pass\n+  return\n"),
            "def f():\n  pass\ndef g():\n  return\n");
  EXPECT_EQ(applied("a\nb\n", "@@ a\n+inserted\n"), "a\ninserted\nb\n");
  EXPECT_EQ(applied("a\nb\n", "+last\n"), "a\nb\nlast\n");
  EXPECT_EQ(applied("x\ny\nx\n", "@@\n-x\n+z\n*** End of File\n"), "x\ny\nz\n");
}

TEST(MarkedPatch, KeepsAMissingFinalNewline) {
  EXPECT_EQ(applied("a\nb", "@@\n a\n-b\n+B\n"), "a\nB");
  EXPECT_EQ(applied("a\nb", "@@\n b\n+c\n"), "a\nb\nc");
  EXPECT_EQ(applied("a\r\nb", "@@\n b\n+c\n"), "a\r\nb\r\nc");
}

TEST(MarkedPatch, RefusesTwoPlaces) {
  EXPECT_THAT(applied("x\ny\nx\n", "@@\n-x\n+z\n"), HasSubstr("more than once (lines 1, 3)"));
}

TEST(MarkedPatch, ToleratesBlanksOnlyWithFuzz) {
  EXPECT_THAT(applied("  some words\n", "@@\n-some words\n+b\n"), HasSubstr("white space"));
  EXPECT_EQ(applied("  a\n", "@@\n-a\n+b\n", 1), "b\n");
  EXPECT_EQ(applied("\tkeep\n  a\n", "@@\n keep\n-a\n+b\n", 1), "\tkeep\nb\n")
      << "context stays as the file has it";
}

TEST(MarkedPatch, NamesTheLineOfWhatIsWrong) {
  const auto error_of = [](std::string_view text) {
    const auto patch = parse_marked_patch(text);
    return patch ? std::string("no error") : patch.error().message();
  };
  EXPECT_THAT(error_of("x\n"), StartsWith("patch line 1: expected"));
  EXPECT_THAT(error_of("*** Begin Patch\n*** Add File: a\n+x\n"),
              StartsWith("patch line 3: \"*** End"));
  EXPECT_THAT(error_of("*** Begin Patch\n*** Add File: a\nx\n*** End Patch\n"),
              StartsWith("patch line 3: each line of a new file"));
  EXPECT_THAT(error_of("*** Begin Patch\n*** Update File: a\n*** End Patch\n"),
              StartsWith("patch line 2: the file is named"));
  EXPECT_THAT(error_of("*** Begin Patch\n*** Update File: a\n@@\n x\n*** End Patch\n"),
              StartsWith("patch line 3: this hunk has no"));
  EXPECT_THAT(error_of("*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch\n"),
              StartsWith("patch line 4: each line of a hunk"));
  EXPECT_THAT(error_of("*** Begin Patch\nhello\n*** End Patch\n"),
              StartsWith("patch line 2: expected"));
  EXPECT_THAT(error_of("*** Begin Patch\n*** Add File: a\n*** End Patch\nmore\n"),
              StartsWith("patch line 4: text behind"));
  EXPECT_THAT(applied("a\n", "@@ missing\n-a\n+b\n"),
              StartsWith("patch line 3: x: the line \"@@ missing"));
}

}  // namespace
}  // namespace bawn::files
