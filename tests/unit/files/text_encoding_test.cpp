#include "text_encoding.hpp"

#include "utf8.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace bawn::files {
namespace {

using namespace std::string_literals;

TEST(TextEncoding, NoticesTheEncodingOfTheBytes) {
  EXPECT_EQ(decode_text("plain\n")->style.encoding, Encoding::Utf8);
  EXPECT_EQ(decode_text("\xEF\xBB\xBFmarked")->style.encoding, Encoding::Utf8Bom);
  EXPECT_EQ(decode_text("\xEF\xBB\xBFmarked")->text, "marked");
  EXPECT_EQ(decode_text("\xFF\xFEh\0i\0"s)->text, "hi");
  EXPECT_EQ(decode_text("\xFE\xFF\0h\0i"s)->style.encoding, Encoding::Utf16Be);
  EXPECT_EQ(decode_text("\xFF\xFE\x3D\xD8\x00\xDE"s)->text, "\xF0\x9F\x98\x80");
  EXPECT_EQ(decode_text("caf\xE9\n")->style.encoding, Encoding::Latin1);
  EXPECT_EQ(decode_text("caf\xE9\n")->text, "caf\xC3\xA9\n");
}

TEST(TextEncoding, MostlyUtf8StaysUtf8AndCountsWhatIsNot) {
  const auto text = decode_text("\xC3\xA9\xC3\xA9 \xFF\n");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->style.encoding, Encoding::Utf8);
  EXPECT_EQ(text->style.invalid_bytes, 1U);
}

TEST(TextEncoding, BytesThatAreNoTextAreNone) {
  EXPECT_FALSE(decode_text("a\0b"s));
  EXPECT_FALSE(decode_text("\x01\x02\x03\x04"));
  EXPECT_FALSE(decode_text("\xFF\xFE\0\0"s)) << "UTF-32, or NUL in UTF-16";
  EXPECT_FALSE(decode_text("\xFF\xFEx"s)) << "half a unit";
  EXPECT_FALSE(decode_text("\xFF\xFE\x3D\xD8x\0"s)) << "half a surrogate pair";
  EXPECT_FALSE(decode_text(std::string(9000, 'x') + '\0')) << "NUL behind the first 8 KiB";
}

TEST(TextEncoding, TellsLineEndsAndTheFinalOne) {
  EXPECT_EQ(decode_text("a\nb\n")->style.ending, LineEnding::Lf);
  EXPECT_EQ(decode_text("a\r\nb\r\n")->style.ending, LineEnding::CrLf);
  EXPECT_EQ(decode_text("a\r\nb\n")->style.ending, LineEnding::Mixed);
  EXPECT_EQ(decode_text("a")->style.ending, LineEnding::None);
  EXPECT_FALSE(decode_text("a\nb")->style.final_newline);
  EXPECT_TRUE(decode_text("")->style.final_newline);
  EXPECT_EQ(with_line_ending("a\nb\r\nc", LineEnding::CrLf), "a\r\nb\r\nc");
  EXPECT_EQ(with_line_ending("a\nb\r\nc\rd", LineEnding::Lf), "a\nb\nc\rd");
}

TEST(TextEncoding, RefusesACharacterThatTheEncodingLacks) {
  const auto refused = encode_text("\xE2\x82\xAC", Encoding::Latin1);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("U+20AC"), std::string::npos);
}

TEST(TextEncoding, EveryDecodedTextComesBackByteForByte) {
  std::mt19937 random(7);
  const auto pick = [&](int most) { return std::uniform_int_distribution<>(0, most)(random); };
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    const int kind = pick(4);
    if (kind == 0) {
      bytes = "\xEF\xBB\xBF";
    } else if (kind == 1) {
      bytes = "\xFF\xFE";
    }
    for (int i = pick(60); i > 0; --i) {
      if (kind == 1) {
        bytes += static_cast<char>(pick(254) + 1);
        bytes += static_cast<char>(pick(255));
      } else if (pick(3) == 0) {
        append_code_point(bytes, static_cast<char32_t>(0xA0 + pick(0x2000)));
      } else {
        bytes += kind == 2 ? static_cast<char>(pick(254) + 1) : "ab \n\r\t"[pick(5)];
      }
    }
    if (const auto decoded = decode_text(bytes)) {
      const auto back = encode_text(decoded->text, decoded->style.encoding);
      ASSERT_TRUE(back) << back.error().message();
      EXPECT_EQ(*back, bytes);
    }
  }
}

TEST(Utf8, CutsOnlyBetweenCodePoints) {
  const std::string_view text = "a\xC3\xA9\xF0\x9F\x98\x80z";
  EXPECT_EQ(cut_at(text, 0), 0U);
  EXPECT_EQ(cut_at(text, 1), 1U);
  EXPECT_EQ(cut_at(text, 2), 1U);
  EXPECT_EQ(cut_at(text, 3), 3U);
  EXPECT_EQ(cut_at(text, 6), 3U);
  EXPECT_EQ(cut_at(text, 7), 7U);
  EXPECT_EQ(cut_at(text, 99), text.size());
  EXPECT_EQ(cut_at("\x80\x80\x80\x80\x80", 4), 4U);
}

TEST(Utf8, ReplacesEachBadByte) {
  EXPECT_EQ(to_valid_utf8("a\xFF\xC3"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_valid_utf8("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_valid_utf8("\xED\xA0\x80").size(), 9U) << "a surrogate is three bad bytes";
}

TEST(TextEncoding, TheStyleAloneIsThatOfTheDecodedText) {
  for (const std::string& bytes :
       {std::string(), std::string("a\n"), std::string("a\r\nb"), std::string("a\r\nb\n"),
        std::string("\xEF\xBB\xBF\x61\n"), std::string("gr\xFC\n"),
        std::string("\xC3\xBC\xC3\xBC\xFF\n"), std::string("a\0b", 3),
        std::string("\xFF\xFE"
                    "a\0\n\0",
                    6),
        std::string("\xFF\xFE"
                    "a",
                    3)}) {
    const auto whole = decode_text(bytes);
    const auto style = style_of(bytes);
    ASSERT_EQ(whole.has_value(), style.has_value()) << bytes;
    if (style) {
      EXPECT_EQ(style->encoding, whole->style.encoding) << bytes;
      EXPECT_EQ(style->ending, whole->style.ending) << bytes;
      EXPECT_EQ(style->final_newline, whole->style.final_newline) << bytes;
      EXPECT_EQ(style->invalid_bytes, whole->style.invalid_bytes) << bytes;
    }
  }
}

}  // namespace
}  // namespace bawn::files
