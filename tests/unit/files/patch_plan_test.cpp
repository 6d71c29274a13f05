#include "patch_plan.hpp"

#include <gmock/gmock.h>

#include <map>

namespace bawn::files {
namespace {

using ::testing::HasSubstr;
using Files = std::map<std::string, std::string>;

/// The files after the patch, or one named "error".
Files patched(const Files& files, std::string_view text) {
  const auto patch = parse_patch(text);
  if (!patch) {
    return {{"error", patch.error().message()}};
  }
  const auto plan =
      plan_patch(*patch,
                 [&](const std::string& path) -> Result<std::optional<FileContent>> {
                   const auto found = files.find(path);
                   return found == files.end()
                              ? std::nullopt
                              : std::optional(FileContent{.bytes = found->second, .mode = 0644});
                 },
                 {});
  if (!plan) {
    return {{"error", plan.error().message()}};
  }
  Files after = files;
  for (const PathChange& change : plan->changes) {
    after.erase(change.path);
    after.erase(change.from.value_or(change.path));
    if (change.after) {
      after[change.path] = change.after->bytes;
    }
  }
  return after;
}

TEST(PatchPlan, MakesRemovesRenamesAndCopies) {
  EXPECT_EQ(
      patched(
          {{"a", "1\n"}, {"b", "2\n"}},
          "diff --git a/a b/c\nrename from a\nrename to c\n--- a/a\n+++ b/c\n@@ -1 +1 @@\n"
          "-1\n+one\ndiff --git a/b b/d\ncopy from b\ncopy to d\n"
          "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n"),
      (Files{{"b", "2\n"}, {"c", "one\n"}, {"d", "2\n"}, {"n", "n\n"}}));
}

TEST(PatchPlan, ACopyStartsFromTheFileAsItWas) {
  EXPECT_EQ(patched({{"a", "1\n"}},
                    "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"
                    "diff --git a/a b/c\ncopy from a\ncopy to c\n"),
            (Files{{"a", "2\n"}, {"c", "1\n"}}));
}

TEST(PatchPlan, LaterPartsSeeEarlierOnes) {
  EXPECT_EQ(patched({{"a", "1\n"}},
                    "*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Update File: a\n"
                    "-2\n+3\n*** Add File: b\n+x\n*** End Patch\n"),
            (Files{{"a", "3\n"}, {"b", "x\n"}}));
}

TEST(PatchPlan, RefusesWhatIsNotAsThePatchSays) {
  EXPECT_THAT(
      patched({{"a", "1\n"}}, "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n")["error"],
      HasSubstr("patch line 2: a: the file exists already"));
  EXPECT_THAT(patched({}, "*** Begin Patch\n*** Delete File: a\n*** End Patch\n")["error"],
              HasSubstr("patch line 2: a: no such file"));
  EXPECT_THAT(patched({{"a", "1\n2\n"}}, "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")["error"],
              HasSubstr("patch line 3: a: the hunk does not apply"));
}

TEST(PatchPlan, ReadsLatin1AndUtf16AsText) {
  EXPECT_EQ(
      patched({{"a", "caf\xE9\n"}},
              "*** Begin Patch\n*** Update File: a\n-caf\xC3\xA9\n+th\xC3\xA9\n*** End Patch\n"),
      (Files{{"a", "th\xE9\n"}}));
}

TEST(PatchPlan, FilesMayBecomeDirectoriesInAnyOrderOfTheParts) {
  const std::string gone = "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n";
  const std::string made = "--- /dev/null\n+++ b/a/x\n@@ -0,0 +1 @@\n+2\n";
  const Files expected{{"a/x", "2\n"}};
  EXPECT_EQ(patched({{"a", "1\n"}}, gone + made), expected);
  EXPECT_EQ(patched({{"a", "1\n"}}, made + gone), expected);
  EXPECT_EQ(patched({{"a", "1\n"}}, "diff --git a/a b/a/x\nrename from a\nrename to a/x\n"),
            (Files{{"a/x", "1\n"}}));
  EXPECT_EQ(patched({{"a/x", "1\n"}}, "diff --git a/a/x b/a\nrename from a/x\nrename to a\n"),
            (Files{{"a", "1\n"}}));
}

TEST(PatchPlan, AFileAndOneBelowItCannotBothBe) {
  const std::string made = "*** Begin Patch\n*** Add File: a/x\n+2\n";
  EXPECT_THAT(patched({}, made + "*** Add File: a\n+1\n*** End Patch\n")["error"],
              HasSubstr("patch line 2: a/x: a is a file and no directory"));
  EXPECT_THAT(
      patched({{"a", "1\n"}}, made + "*** Update File: a\n-1\n+3\n*** End Patch\n")["error"],
      HasSubstr("patch line 2: a/x: a is a file and no directory"));
}

TEST(PatchPlan, ANewFileMayTakeTheNameOfOneThatIsRenamedFurtherDown) {
  EXPECT_EQ(patched({{"a", "1\n"}},
                    "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n"
                    "@@ -0,0 +1 @@\n+2\n"
                    "diff --git a/a b/b\nrename from a\nrename to b\n"),
            (Files{{"a", "2\n"}, {"b", "1\n"}}));
}

TEST(PatchPlan, WhatCannotBeReadIsToldWithItsLine) {
  const auto patch = parse_patch("*** Begin Patch\n\n*** Delete File: a\n*** End Patch\n");
  const auto plan =
      plan_patch(*patch,
                 [](const std::string& path) -> Result<std::optional<FileContent>> {
                   return contract::fail(ErrorCode::PermissionDenied, path + " cannot be read");
                 },
                 {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message(), "patch line 3: a cannot be read");
  EXPECT_EQ(plan.error().code(), ErrorCode::PermissionDenied);
}

}  // namespace
}  // namespace bawn::files
