#include "bawn/contract/quote.hpp"

#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

TEST(Quote, WritesShortEscapes) {
  EXPECT_EQ(quote("\a\b\f\n\r\t\v\\\""), R"("\a\b\f\n\r\t\v\\\"")");
}

TEST(Quote, KeepsPrintableText) {
  EXPECT_EQ(quote("é😀 中 ́"), "\"é😀 中 ́\"");
}

TEST(Quote, EscapesControlsAndUnprintableText) {
  using namespace std::string_view_literals;
  EXPECT_EQ(quote("\x01\x7f\0"sv), R"("\x01\x7f\x00")");
  EXPECT_EQ(quote("\u00a0\u202e\u200b\ufeff\u3000"), R"("\u00a0\u202e\u200b\ufeff\u3000")");
  EXPECT_EQ(quote("\U000e0001"), R"("\U000e0001")");
  EXPECT_EQ(quote("\x1b[31m"), R"("\x1b[31m")");
}

TEST(Quote, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(quote("a\xff\xc3z"), R"("a\xff\xc3z")");
  EXPECT_EQ(quote("\xc0\x80"), R"("\xc0\x80")");          // overlong
  EXPECT_EQ(quote("\xed\xa0\x80"), R"("\xed\xa0\x80")");  // a surrogate
  EXPECT_EQ(quote("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");
}

}  // namespace
}  // namespace bawn::contract
