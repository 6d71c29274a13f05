#include "glob.hpp"

#include "ignore_rules.hpp"

#include <gtest/gtest.h>

namespace bawn::files {
namespace {

bool matches(std::string_view pattern, std::string_view path, GlobOptions options = {}) {
  const auto glob = Glob::compile(pattern, options);
  return glob && glob->matches(path);
}

TEST(Glob, StarsKeepToTheirPart) {
  EXPECT_TRUE(matches("*.c", "a.c"));
  EXPECT_FALSE(matches("*.c", "d/a.c"));
  EXPECT_TRUE(matches("**/a.c", "a.c"));
  EXPECT_TRUE(matches("**/a.c", "x/y/a.c"));
  EXPECT_TRUE(matches("x/**/a.c", "x/a.c"));
  EXPECT_TRUE(matches("x/**/a.c", "x/y/z/a.c"));
  EXPECT_FALSE(matches("x/**/a.c", "xx/a.c"));
  EXPECT_TRUE(matches("x/**", "x/y/z"));
  EXPECT_FALSE(matches("x/**", "x"));
  EXPECT_FALSE(matches("a**c", "a/c")) << "within a part ** is *";
  EXPECT_TRUE(matches("a?c", "abc"));
  EXPECT_FALSE(matches("a?c", "a/c"));
}

TEST(Glob, BracketsAreSetsOfBytes) {
  EXPECT_TRUE(matches("[a-c]x", "bx"));
  EXPECT_FALSE(matches("[!a-c]x", "bx"));
  EXPECT_TRUE(matches("[^a-c]x", "dx"));
  EXPECT_TRUE(matches("[]]x", "]x"));
  EXPECT_TRUE(matches("[a-]x", "-x"));
  EXPECT_TRUE(matches("[[:digit:]]x", "7x"));
  EXPECT_FALSE(matches("a[+-9]c", "a/c")) << "a set never holds the slash";
  EXPECT_FALSE(matches("a[!x]c", "a/c"));
  EXPECT_FALSE(Glob::compile("[abc", {}));
  EXPECT_FALSE(Glob::compile("abc\\", {}));
  EXPECT_TRUE(matches("\\*x", "*x"));
  EXPECT_FALSE(matches("\\*x", "ax"));
}

TEST(Glob, BracesAreChoicesOnlyWhereAskedFor) {
  EXPECT_TRUE(matches("*.{c,h}", "a.h", {.braces = true}));
  EXPECT_TRUE(matches("{a,{b,c}d}x", "cdx", {.braces = true}));
  EXPECT_FALSE(matches("*.{c,h}", "a.h"));
  EXPECT_TRUE(matches("*.{c,h}", "a.{c,h}"));
  EXPECT_FALSE(Glob::compile("{a", {.braces = true}));
}

TEST(GlobList, ALaterOneWinsAndNegativeOnesLeaveOut) {
  std::string bad;
  const auto list = GlobList::compile({"*.cpp", "!*_test.cpp", "docs/**"}, bad);
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->keeps("src/a.cpp"));
  EXPECT_FALSE(list->keeps("src/a_test.cpp"));
  EXPECT_TRUE(list->keeps("docs/x/y.md"));
  EXPECT_FALSE(list->keeps("other/x.md"));
  EXPECT_TRUE(GlobList::compile({"!*.o"}, bad)->keeps("a.c"));
  EXPECT_FALSE(GlobList::compile({"a", "[x"}, bad));
  EXPECT_EQ(bad, "[x");
}

bool ignored(std::string_view rules, std::string_view path, bool directory = false) {
  return IgnoreRules::parse(rules).verdict(path, directory) == IgnoreRules::Verdict::Ignore;
}

TEST(IgnoreRules, ReadWhatGitReads) {
  EXPECT_TRUE(ignored("*.o\n", "a/b.o"));
  EXPECT_FALSE(ignored("*.o\n!keep.o\n", "keep.o"));
  EXPECT_TRUE(ignored("/top\n", "top"));
  EXPECT_FALSE(ignored("/top\n", "sub/top"));
  EXPECT_TRUE(ignored("a/b\n", "a/b"));
  EXPECT_FALSE(ignored("a/b\n", "x/a/b"));
  EXPECT_TRUE(ignored("dir/\n", "x/dir", true));
  EXPECT_FALSE(ignored("dir/\n", "x/dir", false));
  EXPECT_TRUE(ignored("trailing   \n", "trailing"));
  EXPECT_TRUE(ignored("kept\\ \n", "kept "));
  EXPECT_TRUE(ignored("\\#name\n", "#name"));
  EXPECT_TRUE(ignored("\\!name\n", "!name"));
  EXPECT_TRUE(ignored("crlf\r\n", "crlf"));
  EXPECT_FALSE(ignored("# comment\n\n/\n", "comment"));
}

TEST(IgnoreStack, TheDeepestFileDecidesFirst) {
  IgnoreStack stack;
  stack.push("", IgnoreRules::parse("*.log\n"));
  stack.push("sub", IgnoreRules::parse("!keep.log\n"));
  EXPECT_TRUE(stack.ignores("a.log", false));
  EXPECT_FALSE(stack.ignores("sub/keep.log", false));
  EXPECT_TRUE(stack.ignores("sub/other.log", false));
  EXPECT_TRUE(stack.ignores("subx/keep.log", false));
}

}  // namespace
}  // namespace bawn::files
