#include "edits.hpp"

#include "near_miss.hpp"

#include <gmock/gmock.h>

#include <ostream>

namespace bawn::files {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string edited(std::string text, const std::vector<Edit>& edits, bool crlf = false) {
  auto result = apply_edits(std::move(text), edits, crlf);
  return result ? result->text : "error: " + result.error().message();
}

TEST(Edits, ReplaceWhatIsThereOnce) {
  EXPECT_EQ(edited("one two three", {{"two", "2"}}), "one 2 three");
  const auto result = apply_edits("a\nb\nc\n", {{"b\n", "x\ny\n"}}, false);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->applied[0].count, 1U);
  EXPECT_EQ(result->applied[0].line, 2U);
}

TEST(Edits, RefuseSeveralPlacesAndNameTheirLines) {
  EXPECT_THAT(edited("x\ny\nx\n", {{"x", "z"}}), HasSubstr("2 times (lines 1, 3)"));
  EXPECT_EQ(edited("x\ny\nx\n", {{"x", "zz", true}}), "zz\ny\nzz\n");
  EXPECT_EQ(edited("aaaa", {{"aa", "b", true}}), "bb");
}

TEST(Edits, GoOneAfterTheOtherAndAllOrNone) {
  EXPECT_EQ(edited("a b", {{"a", "b c"}, {"b c", "d"}}), "d b");
  EXPECT_THAT(edited("a b", {{"a", "x"}, {"missing", "y"}}), HasSubstr("edit 2 of 2: "));
}

TEST(Edits, RefuseNothingAndNoChange) {
  EXPECT_THAT(edited("a", {{"", "x"}}), HasSubstr("old_string is empty"));
  EXPECT_THAT(edited("a", {{"a", "a"}}), HasSubstr("the same"));
}

TEST(Edits, SayThatLineNumbersDoNotBelongToTheText) {
  const std::string text = "one\n\ttwo\nthree\n";
  EXPECT_THAT(edited(text, {{"     1\tone\n     2\t\ttwo\n", "x"}}), HasSubstr("line numbers"));
  EXPECT_THAT(edited(text, {{"3\tthree", "x"}}), HasSubstr("line numbers"));
  EXPECT_THAT(edited(text, {{"     1\tother\n", "x"}}), Not(HasSubstr("line numbers")));
}

TEST(Edits, KeepCrlf) {
  EXPECT_EQ(edited("a\r\nb\r\nc\r\n", {{"a\nb\n", "x\ny\nz\n"}}, true), "x\r\ny\r\nz\r\nc\r\n");
}

struct Case {
  const char* text;
  const char* wanted;
  const char* reason;
};

// For the names that ctest lists.
void PrintTo(const Case& one, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << one.reason;
}

class NearMissReason : public testing::TestWithParam<Case> {};

TEST_P(NearMissReason, IsSaid) {
  const auto miss = find_near_miss(GetParam().text, GetParam().wanted);
  ASSERT_TRUE(miss);
  EXPECT_THAT(miss->reason, HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, NearMissReason,
    testing::Values(
        Case{"if x:\n\treturn 1\n", "if x:\n    return 1\n", "tabs where"},
        Case{"if x:\n    return 1\n", "if x:\n\treturn 1\n", "spaces where"},
        Case{"a = 1;\r\nb = 2;\r\n", "a = 1;\nb = 2;\n", "CRLF"},
        Case{"foo(a);   \nbar(b);\n", "foo(a);\nbar(b);\n", "white space at line ends"},
        Case{"call( a,  b )\n", "call( a, b )\n", "amount of white space"},
        Case{"say \xE2\x80\x9Chello\xE2\x80\x9D now\n", "say \"hello\" now\n", "quotes"},
        Case{"int Total = 0;\n", "int total = 0;\n", "upper and lower case"},
        Case{"int total = compute(a, b);\n", "int total = compute(a, c);\n", "the text differs"}));

TEST(NearMiss, ShowsThePlaceWithASmallDiff) {
  const auto miss = find_near_miss("one\ntwo\nint total = compute(a, b);\nfour\n",
                                   "int total = compute(a);\nfour\n");
  ASSERT_TRUE(miss);
  EXPECT_EQ(miss->first_line, 3U);
  EXPECT_EQ(miss->last_line, 4U);
  EXPECT_THAT(miss->diff, HasSubstr("-int total = compute(a);\n+int total = compute(a, b);\n"));
}

TEST(NearMiss, IsNoneWhereNothingIsAlike) {
  EXPECT_FALSE(find_near_miss("alpha\nbeta\n", "zzzzzzzz qqqqqqq\n"));
  EXPECT_FALSE(find_near_miss("", "x"));
  EXPECT_THAT(describe_near_miss("alpha", "zzzzzzz"), HasSubstr("read the file again"));
}

}  // namespace
}  // namespace bawn::files
