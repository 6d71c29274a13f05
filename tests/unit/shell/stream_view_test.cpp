#include "stream_view.hpp"

#include <gmock/gmock.h>

#include <string>

namespace bawn::shell {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

OutputBuffer buffer_of(std::string_view text) {
  OutputBuffer buffer(1 << 20, 0, "");
  buffer.append(text);
  return buffer;
}

TEST(StreamView, ShowsHeadAndTailWithWhatIsMissing) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  const StreamView view = make_view(buffer_of(text), {.max_bytes = 400});
  EXPECT_THAT(view.text, StartsWith("line 0\n"));
  EXPECT_THAT(view.text, EndsWith("line 999\n"));
  EXPECT_THAT(view.text, HasSubstr("left out"));
  EXPECT_EQ(view.bytes, text.size());
  EXPECT_EQ(view.lines, 1000U);
  const auto shown_lines = std::count(view.text.begin(), view.text.end(), '\n') - 1;
  EXPECT_EQ(view.missing_lines, 1000U - static_cast<std::uint64_t>(shown_lines));
}

TEST(StreamView, CutsOnCodePoints) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "\xE4\xBD\xA0";
  }
  for (std::size_t size = 300; size < 310; ++size) {
    const StreamView view = make_view(buffer_of(text), {.max_bytes = size});
    EXPECT_EQ(view.invalid_bytes, 0U) << size;
  }
  const StreamView open =
      make_view(buffer_of(text.substr(0, 10)), {.max_bytes = 100, .open_end = true});
  EXPECT_EQ(open.text.size(), 9U);
  EXPECT_EQ(open.next, 9U);
}

TEST(StreamView, ReadsOnFromAnOffset) {
  const OutputBuffer buffer = buffer_of("one\ntwo\nthree\n");
  const StreamView view = make_view(buffer, {.from = 4, .max_bytes = 100});
  EXPECT_EQ(view.text, "two\nthree\n");
  EXPECT_EQ(view.from, 4U);
  EXPECT_EQ(view.next, 14U);
  EXPECT_EQ(make_view(buffer, {.from = 99, .max_bytes = 100}).text, "");
}

TEST(StreamView, HidesTheNameOfTheScript) {
  const StreamView view = make_view(buffer_of("/r/abc: line 1: x: not found\n"),
                                    {.max_bytes = 100, .script = {"/r/abc", "bash"}});
  EXPECT_EQ(view.text, "bash: line 1: x: not found\n");
}

TEST(FoldCarriageReturns, KeepsWhatATerminalWouldShowLast) {
  const auto folded = [](std::string text) {
    fold_carriage_returns(text);
    return text;
  };
  EXPECT_EQ(folded("\r1\r2\r3"), "3");
  EXPECT_EQ(folded("10%\r50%\r100%\ndone\n"), "100%\ndone\n");
  EXPECT_EQ(folded("100%\r"), "100%");
  EXPECT_EQ(folded("dos\r\nlines\r\n"), "dos\r\nlines\r\n");
  EXPECT_EQ(folded("plain\n"), "plain\n");
  EXPECT_EQ(folded(""), "");
  EXPECT_EQ(folded("\r"), "");
  EXPECT_EQ(folded("\r\n"), "\r\n");
}

TEST(MakeValidUtf8, ReplacesWhatIsNoSequence) {
  const auto checked = [](std::string text, std::uint64_t invalid) {
    EXPECT_EQ(make_valid_utf8(text), invalid);
    return text;
  };
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(checked("a\xFF"
                    "b",
                    1),
            "a" + replacement + "b");
  EXPECT_EQ(checked("\xC0\x80", 2), replacement + replacement) << "overlong";
  EXPECT_EQ(checked("\xED\xA0\x80", 3), replacement + replacement + replacement) << "surrogate";
  EXPECT_EQ(checked("\xF4\x90\x80\x80", 4).size(), 12U) << "above U+10FFFF";
  EXPECT_EQ(checked("\xE2\x82", 2).size(), 6U) << "cut off";
  EXPECT_EQ(checked("\xF0\x9F\x98\x80 \xE2\x82\xAC", 0), "\xF0\x9F\x98\x80 \xE2\x82\xAC");
  EXPECT_EQ(checked(std::string("a\0b", 3), 0), std::string("a\0b", 3));
}

}  // namespace
}  // namespace bawn::shell
