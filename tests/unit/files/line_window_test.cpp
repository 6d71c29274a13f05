#include "line_window.hpp"

#include "lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace bawn::files {
namespace {

const WindowOptions kPlain{.numbered = false};

TEST(LineWindow, ShowsTheLinesThatWereAskedFor) {
  const auto shown = show_lines("one\ntwo\nthree\n", {{.first = 2, .count = 5}}, kPlain);
  ASSERT_EQ(shown.windows.size(), 1U);
  EXPECT_EQ(shown.windows[0].text, "two\nthree\n");
  EXPECT_EQ(shown.windows[0].first, 2U);
  EXPECT_EQ(shown.windows[0].last, 3U);
  EXPECT_EQ(shown.total_lines, 3U);
}

TEST(LineWindow, NumbersThemAsCatDoes) {
  EXPECT_EQ(show_lines("a\r\nb", {{.first = 1, .count = 2}}, {}).windows[0].text,
            "     1\ta\n     2\tb\n");
}

TEST(LineWindow, ShowsSeveralRangesInAnyOrder) {
  const auto shown = show_lines(
      "1\n2\n3\n4\n", {{.first = 3, .count = 1}, {.first = 1, .count = 2}, {.first = 9}}, kPlain);
  ASSERT_EQ(shown.windows.size(), 3U);
  EXPECT_EQ(shown.windows[0].text, "3\n");
  EXPECT_EQ(shown.windows[1].text, "1\n2\n");
  EXPECT_EQ(shown.windows[2].first, 0U);
}

TEST(LineWindow, CutsLongLinesBetweenCodePointsAndSaysSo) {
  const auto shown =
      show_lines("aaa\xC3\xA9tail\nb\n", {{}}, {.numbered = false, .max_line_bytes = 4});
  EXPECT_EQ(shown.windows[0].text, "aaa … [line cut: 3 of 9 bytes shown]\nb\n");
  EXPECT_EQ(shown.windows[0].cut_lines, 1U);
}

TEST(LineWindow, StopsAtItsSizeButShowsSomething) {
  const auto shown = show_lines("12345\n12345\n", {{}}, {.numbered = false, .max_bytes = 4});
  EXPECT_EQ(shown.windows[0].text, "12345\n");
  EXPECT_TRUE(shown.windows[0].full);
  EXPECT_EQ(shown.windows[0].last, 1U);
}

TEST(LineWindow, IsTheSameFromPiecesOfAnySize) {
  const std::string text = "first\r\n\nthird is longer\r\r\nlast \xC3\xA9 without end";
  const std::vector<LineRange> ranges = {{.first = 3, .count = 2}, {.first = 1, .count = 1}};
  const WindowOptions options{.max_line_bytes = 9};
  const auto whole = show_lines(text, ranges, options);
  for (std::size_t size = 1; size < text.size(); ++size) {
    WindowBuilder builder(ranges, options);
    for (std::size_t at = 0; at < text.size(); at += size) {
      builder.feed(std::string_view(text).substr(at, size));
    }
    const auto pieces = builder.finish();
    EXPECT_EQ(pieces.total_lines, 4U);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      EXPECT_EQ(pieces.windows[i].text, whole.windows[i].text) << size;
    }
  }
}

TEST(Lines, AreCountedWithAnUnfinishedLast) {
  EXPECT_EQ(count_lines(""), 0U);
  EXPECT_EQ(count_lines("a"), 1U);
  EXPECT_EQ(count_lines("a\n"), 1U);
  EXPECT_EQ(count_lines("a\n\nb"), 3U);
  EXPECT_EQ(line_number_at("a\nb\nc", 4), 3U);
}

TEST(CountNewlines, AgreesWithCountingByteByByte) {
  std::string text;
  for (std::size_t size = 0; size < 9000; size = size < 300 ? size + 1 : size * 5 / 3) {
    text.assign(size, 'x');
    for (std::size_t i = 0; i < size; i += 1 + i % 7) {
      text[i] = '\n';
    }
    for (std::size_t from = 0; from < std::min<std::size_t>(size, 18); ++from) {
      const std::string_view part = std::string_view(text).substr(from);
      ASSERT_EQ(count_newlines(part),
                static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n')))
          << size << " from " << from;
    }
    text.assign(size, '\n');
    ASSERT_EQ(count_newlines(text), size);
  }
}

}  // namespace
}  // namespace bawn::files
