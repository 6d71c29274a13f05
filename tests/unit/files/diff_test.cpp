#include "diff.hpp"

#include "lines.hpp"
#include "patch.hpp"
#include "patch_apply.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>

namespace bawn::files {
namespace {

std::string apply(const std::vector<Change>& changes, const std::vector<std::string_view>& before,
                  const std::vector<std::string_view>& after) {
  std::string out;
  std::size_t at = 0;
  for (const Change& change : changes) {
    for (; at < change.old_first; ++at) {
      out += before[at];
    }
    at += change.old_count;
    for (std::size_t i = 0; i < change.new_count; ++i) {
      out += after[change.new_first + i];
    }
  }
  for (; at < before.size(); ++at) {
    out += before[at];
  }
  return out;
}

std::string random_text(std::mt19937& random, int lines, int names) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    text += "line " + std::to_string(std::uniform_int_distribution<>(0, names)(random)) + "\n";
  }
  if (!text.empty() && std::uniform_int_distribution<>(0, 4)(random) == 0) {
    text.pop_back();
  }
  return text;
}

TEST(Diff, IsTheUsualUnifiedForm) {
  EXPECT_EQ(unified_diff("a", "b", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n").text,
            "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(unified_diff("a", "b", "", "x").text,
            "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
  EXPECT_EQ(unified_diff("a", "b", "same\n", "same\n").text, "");
}

TEST(Diff, LinesThatWereChosenToCollideAreReplacedWholeInBoundedTime) {
  constexpr std::size_t kLines = 400;
  std::vector<std::string> texts;
  for (int i = 0; texts.size() < kLines; ++i) {
    std::string line = std::to_string(i) + "\n";
    if (std::hash<std::string_view>()(line) % 1024 == 7) {
      texts.push_back(std::move(line));
    }
  }
  const std::vector<std::string_view> before(texts.begin(), texts.begin() + kLines / 2);
  const std::vector<std::string_view> after(texts.begin() + kLines / 2, texts.end());
  EXPECT_EQ(diff_lines(before, after), (std::vector<Change>{{0, kLines / 2, 0, kLines / 2}}));
  std::vector<std::string_view> more(texts.begin(), texts.end());
  std::vector<std::string_view> turned(more.rbegin(), more.rend());
  EXPECT_EQ(diff_lines(more, turned), (std::vector<Change>{{0, kLines, 0, kLines}}));
}

TEST(Diff, LeadsFromOneTextToTheOtherAndItsOwnPatchApplies) {
  std::mt19937 random(11);
  for (int round = 0; round < 1500; ++round) {
    const int size = std::uniform_int_distribution<>(0, 40)(random);
    const int names = std::uniform_int_distribution<>(1, 30)(random);
    const std::string before = random_text(random, size, names);
    std::string after = random_text(random, std::uniform_int_distribution<>(0, 40)(random), names);
    if (round % 3 != 0) {  // mostly alike
      after = before;
      for (int edits = 0; edits < 3 && !after.empty(); ++edits) {
        const std::size_t at = std::uniform_int_distribution<std::size_t>(0, after.size())(random);
        const std::size_t line = at == 0 ? 0 : after.rfind('\n', at - 1) + 1;
        after.insert(line, "inserted " + std::to_string(edits) + "\n");
      }
    }
    const auto old_lines = split_lines(before);
    const auto new_lines = split_lines(after);
    EXPECT_EQ(apply(diff_lines(old_lines, new_lines), old_lines, new_lines), after);
    const UnifiedDiff diff = unified_diff("a/x", "b/x", before, after);
    if (diff.text.empty()) {
      EXPECT_EQ(before, after);
      continue;
    }
    const auto patch = parse_unified_patch(diff.text);
    ASSERT_TRUE(patch) << patch.error().message() << "\n" << diff.text;
    const auto patched = apply_hunks("x", before, patch->files[0].hunks, {});
    ASSERT_TRUE(patched) << patched.error().message() << "\n" << diff.text;
    EXPECT_EQ(patched->text, after);
  }
}

TEST(Diff, FindsAShortestScriptOfASmallChange) {
  const auto before = split_lines("a\nb\nc\na\nb\nb\na\n");
  const auto after = split_lines("c\nb\na\nb\na\nc\n");
  std::size_t steps = 0;
  for (const Change& change : diff_lines(before, after)) {
    steps += change.old_count + change.new_count;
  }
  EXPECT_EQ(steps, 5U) << "the distance in Myers' paper";
}

TEST(Diff, StaysBoundedOnTextsMadeToBeSlow) {
  std::mt19937 random(3);
  const std::string before = random_text(random, 100'000, 3);
  const std::string after = random_text(random, 100'000, 3);
  const auto old_lines = split_lines(before);
  const auto new_lines = split_lines(after);
  EXPECT_EQ(apply(diff_lines(old_lines, new_lines), old_lines, new_lines), after);
}

TEST(Diff, SaysWhatItLeavesOut) {
  std::string before;
  std::string after;
  for (int i = 0; i < 400; ++i) {
    before += std::to_string(i) + "\n";
    after += i % 20 == 0 ? "changed\n" : std::to_string(i) + "\n";
  }
  const UnifiedDiff diff = unified_diff("a", "b", before, after, {.max_bytes = 300});
  EXPECT_TRUE(diff.cut);
  EXPECT_EQ(diff.added, 20U);
  EXPECT_EQ(diff.removed, 20U);
  EXPECT_NE(diff.text.find("more hunks left out; 20 lines added, 20 removed in all"),
            std::string::npos);
}

}  // namespace
}  // namespace bawn::files
