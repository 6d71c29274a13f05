#include "bawn/contract/visible_text.hpp"

#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

TEST(VisibleText, LooksAtEveryByteWhereverItStands) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool control = (byte < ' ' && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
    for (const std::size_t at : {0U, 1U, 15U, 16U, 17U, 31U, 47U}) {
      std::string text(48, 'a');
      text[at] = c;
      // Lead bytes of C1 and of turns of direction; of what they begin only the next bytes tell.
      EXPECT_EQ(is_visible(text), !control && byte != 0xC2 && byte != 0xE2) << byte << " at " << at;
      EXPECT_EQ(visible_text(text) == text, !control) << byte << " at " << at;
    }
  }
}

TEST(VisibleText, WritesWhatTurnsTheDirectionOfWriting) {
  EXPECT_EQ(visible_text("a\u202eb\u202a\u2066c\u2069"), "a\\u202eb\\u202a\\u2066c\\u2069");
  for (const char* harmless :
       {"\u2014 \u2029 \u202f \u2065 \u206a", "\u05d0\u0628", "\xe2\x80", "\xe2"}) {
    EXPECT_EQ(visible_text(harmless), harmless);
  }
}

TEST(VisibleText, WritesEachControlCharacter) {
  EXPECT_EQ(visible_text("a\x1b[31mred\t\r\n\x7f\xc2\x9b \u00fc"),
            "a\\x1b[31mred\t\r\n\\x7f\\x9b \u00fc");
}

}  // namespace
}  // namespace bawn::contract
