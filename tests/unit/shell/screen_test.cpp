// The screen against what a terminal of the xterm kind shows.
#include "screen.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace bawn::shell {
namespace {

constexpr TerminalSize kSmall{.columns = 10, .rows = 4};

std::string shown(std::string_view bytes, TerminalSize size = kSmall) {
  Screen screen(size);
  screen.feed(bytes);
  return screen.text();
}

TEST(Screen, LinesWrapAndScroll) {
  EXPECT_EQ(shown("one\r\ntwo"), "one\ntwo\n");
  EXPECT_EQ(shown("0123456789ab"), "0123456789\nab\n");
  // Behind the last column the cursor waits: a newline there makes no empty line.
  EXPECT_EQ(shown("0123456789\r\nx"), "0123456789\nx\n");
  EXPECT_EQ(shown("1\r\n2\r\n3\r\n4\r\n5"), "2\n3\n4\n5\n");
  EXPECT_EQ(shown("a\tb\bc\rd"), "d       c\n");
}

TEST(Screen, CursorMovesAndErases) {
  EXPECT_EQ(shown("\x1b[2;3Hx\x1b[Hy"), "y\n  x\n");
  EXPECT_EQ(shown("abcdef\x1b[3D\x1b[K"), "abc\n");
  EXPECT_EQ(shown("abcdef\x1b[4G\x1b[1K"), "    ef\n");
  EXPECT_EQ(shown("a\r\nb\r\nc\x1b[2;1H\x1b[J"), "a\n");
  EXPECT_EQ(shown("abc\x1b[2J\x1b[Hx"), "x\n");
  EXPECT_EQ(shown("abcdef\x1b[2G\x1b[2P"), "adef\n");
  EXPECT_EQ(shown("abc\x1b[2G\x1b[2@x"), "ax bc\n");
  EXPECT_EQ(shown("abc\x1b[1G\x1b[2X"), "  c\n");
  EXPECT_EQ(shown("ab\x1b[3b"), "abbbb\n");
  EXPECT_EQ(shown("\x1b"
                  "7ab\x1b"
                  "8c"),
            "cb\n");
}

TEST(Screen, LinesAreInsertedDeletedAndScrolledInARegion) {
  const std::string four = "1\r\n2\r\n3\r\n4";
  EXPECT_EQ(shown(four + "\x1b[2;1H\x1b[L"), "1\n\n2\n3\n");
  EXPECT_EQ(shown(four + "\x1b[2;1H\x1b[M"), "1\n3\n4\n");
  EXPECT_EQ(shown(four + "\x1b[2;3r\x1b[3;1H\n"), "1\n3\n\n4\n");
  EXPECT_EQ(shown(four + "\x1b[2;3r\x1b[2;1H\x1bM"), "1\n\n2\n4\n");
}

TEST(Screen, AlternateScreenGivesTheMainOneBack) {
  Screen screen(kSmall);
  screen.feed("main\x1b[?1049h\x1b[Hother");
  EXPECT_EQ(screen.text(), "other\n");
  EXPECT_TRUE(screen.addressed());
  screen.feed("\x1b[?1049l!");
  EXPECT_EQ(screen.text(), "main!\n");
}

TEST(Screen, CharactersOfOtherWidthsKeepTheirColumns) {
  EXPECT_EQ(shown("你好x"), "你好x\n");
  // A wide one does not fit into the last column.
  EXPECT_EQ(shown("123456789你"), "123456789\n你\n");
  // Half of a wide one overwritten leaves nothing of it.
  EXPECT_EQ(shown("你x\x1b[2Gy"), " yx\n");
  EXPECT_EQ(shown("e\xCC\x81|"), "e|\n");
  EXPECT_EQ(shown("\x1b(0lqk\x1b(B!"), "┌─┐!\n");
}

TEST(Screen, PiecesOfAnySizeGiveTheSame) {
  const std::string all = "a\x1b[31;1mred\x1b[0m\x1b]0;title\x07 你\x1bP1$r\x1b\\\x1b[2;2Hx";
  Screen whole(kSmall);
  whole.feed(all);
  Screen pieces(kSmall);
  for (const char byte : all) {
    pieces.feed({&byte, 1});
  }
  EXPECT_EQ(whole.text(), pieces.text());
  EXPECT_EQ(whole.text(), "ared 你\n x\n");
}

TEST(Screen, ResizeKeepsTheCursorsLine) {
  Screen screen(kSmall);
  screen.feed("1\r\n2\r\n3\r\n4");
  screen.resize({.columns = 5, .rows = 2});
  EXPECT_EQ(screen.text(), "3\n4\n");
  screen.resize({.columns = 20, .rows = 3});
  screen.feed("!");
  EXPECT_EQ(screen.text(), "3\n4!\n");
}

TEST(Screen, AnyBytesAreTaken) {
  std::mt19937 random(7);  // NOLINT: the same bytes in every run
  const std::string alphabet = "\x1b[];?0123456789HJKLMPS@rhlmABCDqx\r\n\b\t\xE4\xBD\xA0\xFF";
  Screen screen(kSmall);
  for (int i = 0; i < 200'000; ++i) {
    const char byte = alphabet[random() % alphabet.size()];
    screen.feed({&byte, 1});
    if (i % 5000 == 0) {
      screen.resize({.columns = static_cast<std::uint16_t>(1 + random() % 20),
                     .rows = static_cast<std::uint16_t>(1 + random() % 9)});
    }
    const auto [row, column] = screen.cursor();
    ASSERT_TRUE(row >= 0 && column >= 0);
  }
  screen.feed(
      "\x1b"
      "c\x1b[1;1Hend");
  EXPECT_TRUE(screen.text().starts_with("e"));
}

}  // namespace
}  // namespace bawn::shell
