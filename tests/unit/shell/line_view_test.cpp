// Chosen lines, raw bytes, and what a reader sees of control characters.
#include "line_view.hpp"

#include <gtest/gtest.h>

namespace bawn::shell {
namespace {

std::string folded(std::string text) {
  fold_controls(text);
  return text;
}

TEST(FoldControls, TerminalSequencesGoAndOtherControlsShow) {
  EXPECT_EQ(folded("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x07"), "red link");
  EXPECT_EQ(folded("a\x1b(Bb\x1b=c\x1b"
                   "7d"),
            "abcd");
  EXPECT_EQ(folded("bell\x07 ctrl\x01 del\x7f"), "bell ctrl^A del^?");
  EXPECT_EQ(folded("tab\tnew\ncr\rnul" + std::string(1, '\0')),
            "tab\tnew\ncr\rnul" + std::string(1, '\0'));
  EXPECT_EQ(folded("csi \xC2\x9B!"), "csi \xEF\xBF\xBD!");
  EXPECT_EQ(folded("\xC2\xA9"), "\xC2\xA9");
}

TEST(FoldControls, BackspacesCountOnceSomethingIsWrittenOver) {
  EXPECT_EQ(folded("N\bNA\bAME"), "NAME");
  EXPECT_EQ(folded("12%\b\b\b13%"), "13%");
  EXPECT_EQ(folded("abc\b"), "abc");
  EXPECT_EQ(folded("a\b\b\bb\nc\b\nd"), "b\nc\nd");
}

TEST(FoldControls, ACutOffSequenceIsLeftForTheNextView) {
  OutputBuffer buffer(1000, 0, "");
  buffer.append("red\x1b[3");
  auto view = make_view(buffer, {.from = 0, .max_bytes = 100, .open_end = true});
  EXPECT_EQ(view.text, "red");
  EXPECT_EQ(view.next, 3U);
  buffer.append("1mx");
  view = make_view(buffer, {.from = view.next, .max_bytes = 100, .open_end = true});
  EXPECT_EQ(view.text, "x");
}

TEST(LineView, ShowsMatchingLinesWithTheirNumbers) {
  OutputBuffer buffer(100, 0, "");
  buffer.append("one\ntwo\nthree\nfour");
  const auto filter = LineFilter::make("^t");
  ASSERT_TRUE(filter);
  ViewOptions options{.from = 0, .max_bytes = 100, .filter = &*filter};
  auto view = make_view(buffer, options);
  EXPECT_EQ(view.text, "2:two\n3:three\n");
  EXPECT_EQ(view.next, buffer.bytes());
  // What does not fit is read on at `next`, and numbers go on.
  options.max_bytes = 8;
  view = make_view(buffer, options);
  EXPECT_EQ(view.text, "2:two\n");
  options.from = view.next;
  EXPECT_EQ(make_view(buffer, options).text, "3:three\n");
  // A last line that may go on is no line yet.
  const auto four = LineFilter::make("four");
  options = {.from = 0, .max_bytes = 100, .open_end = true, .filter = &*four};
  EXPECT_EQ(make_view(buffer, options).text, "");
  options.open_end = false;
  EXPECT_EQ(make_view(buffer, options).text, "4:four\n");
}

TEST(LineView, APatternThatIsNoneIsRefused) {
  const auto filter = LineFilter::make("(");
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code(), ErrorCode::InvalidArgument);
}

TEST(LineView, FindsALinesOffset) {
  OutputBuffer buffer(100, 0, "");
  buffer.append("one\ntwo\nthree");
  EXPECT_EQ(offset_of_line(buffer, 1), 0U);
  EXPECT_EQ(offset_of_line(buffer, 3), 8U);
  EXPECT_EQ(offset_of_line(buffer, 4), buffer.bytes());
}

TEST(LineView, RawBytesComeAsBase64) {
  OutputBuffer buffer(100, 0, "");
  buffer.append(std::string_view("\x1b[1m\0\xff", 6));
  const auto view = make_view(buffer, {.from = 2, .max_bytes = 100, .raw = true});
  EXPECT_TRUE(view.base64);
  EXPECT_EQ(view.text, "MW0A/w==");
  EXPECT_EQ(view.next, 6U);
}

}  // namespace
}  // namespace bawn::shell
