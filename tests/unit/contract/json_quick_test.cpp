/// \file
/// The quick reader against nlohmann's own: what it takes, that one takes, and as the same value.
#include "json_quick.hpp"

#include "bawn/contract/json_plain.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>

namespace bawn::contract::detail {
namespace {

using Tree = nlohmann::ordered_json;
/// nlohmann's consumer that builds its own tree.
using TreeSax = nlohmann::detail::json_sax_dom_parser<Tree>;

std::optional<Tree> quick(std::string_view text) {
  Tree tree;
  TreeSax sax(tree, false);
  return QuickReader(text, sax).read() && !sax.is_errored() ? std::optional(tree) : std::nullopt;
}

std::optional<Tree> slow(std::string_view text) {
  Tree tree = Tree::parse(text.begin(), text.end(), nullptr, false);
  return tree.is_discarded() ? std::nullopt : std::optional(tree);
}

TEST(QuickReader, ReadsWhatClientsSend) {
  for (const char* text : {
           R"({})",
           R"([])",
           R"("")",
           R"( { "a" : [ 1 , -2 , true , false , null , "x" ] , "b" : { } } )",
           R"({"text":"one\ntwo\t\"three\" \\ \/ \b\f\r"})",
           R"(["\u00e9","\u0041\u0000","\ud83d\ude00","é€😀"])",
           "[0,1,999999999999999999,-999999999999999999]",
           "\r\n\t[1]\n",
       }) {
    const auto read = quick(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, *slow(text)) << text;
    EXPECT_EQ(read->dump(), slow(text)->dump()) << text << ": the kinds of numbers";
  }
}

TEST(QuickReader, LeavesRareNumbersToTheOther) {
  for (const char* text : {"1.5", "1e3", "1E3", "-0", "9999999999999999999", "[0.0]"}) {
    EXPECT_FALSE(quick(text)) << text;
    EXPECT_TRUE(slow(text)) << text;
  }
}

TEST(QuickReader, TakesNothingThatIsNoJson) {
  for (const char* text : {"",
                           " ",
                           "tru",
                           "nul",
                           "truex",
                           "01",
                           "-",
                           "-a",
                           "+1",
                           ".5",
                           "1 2",
                           "[1,]",
                           "[1",
                           "[,1]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{\"a\" 1}",
                           "\"",
                           "\"\\",
                           "\"\\u",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800x\"",
                           "\"\\ud800\\u0041\"",
                           "\"a\nb\"",
                           "\"\x80\"",
                           "\"\xC0\x80\"",
                           "\"\xED\xA0\x80\"",
                           "\"\xF4\x90\x80\x80\"",
                           "\"\xE2\x82\"",
                           "]",
                           "}",
                           "[}",
                           "{]"}) {
    EXPECT_FALSE(quick(text)) << text;
    EXPECT_FALSE(slow(text)) << text;
  }
}

class RandomText {
 public:
  explicit RandomText(unsigned seed) : random_(seed) {}

  std::string value(int depth) {
    switch (pick(depth > 4 ? 3 : 5)) {
      case 0:
        return one_of({"true", "false", "null"});
      case 1:
        return one_of({"0", "7", "-12", "1234567890123", "1.5", "-0", "2e5"});
      case 2:
      case 3:
        return string();
      case 4:
        return list('[', ']', depth, false);
      default:
        return list('{', '}', depth, true);
    }
  }

  /// The text with one byte put in, taken out or changed.
  std::string damaged(std::string text) {
    const std::size_t at = pick(static_cast<int>(text.size()));
    const char byte = "\"\\{}[],:u0-.e \n\x80\xC3t"[pick(18)];
    if (at == text.size() || pick(2) == 0) {
      return text.insert(at, 1, byte);
    }
    if (pick(1) == 0) {
      return text.erase(at, 1);
    }
    text[at] = byte;
    return text;
  }

 private:
  std::size_t pick(int most) {
    return static_cast<std::size_t>(std::uniform_int_distribution<>(0, most)(random_));
  }
  std::string one_of(std::initializer_list<const char*> words) {
    return *(words.begin() + pick(static_cast<int>(words.size()) - 1));
  }
  std::string space() { return pick(5) == 0 ? one_of({" ", "\n", "\t ", "\r\n"}) : ""; }
  std::string string() {
    std::string text = "\"";
    for (std::size_t parts = pick(4); parts > 0; --parts) {
      text += std::string(pick(40), 'x');
      text += one_of({"\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00", "\\u0000", "é", "😀", "/",
                      "\\ud83d", "\x7f"});
    }
    return text + '"';
  }
  std::string list(char open, char close, int depth, bool members) {
    std::string text(1, open);
    for (std::size_t count = pick(4), i = 0; i < count; ++i) {
      text += (i > 0 ? "," : "") + space();
      text += members ? "\"k" + std::to_string(i) + "\"" + space() + ":" : "";
      text += space() + value(depth + 1) + space();
    }
    return text + close;
  }

  std::mt19937 random_;
};

TEST(QuickReader, AgreesWithTheOtherOnWhateverItTakes) {
  RandomText random(3);
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = random.value(0);
    text = i % 3 == 0 ? random.damaged(text) : text;
    if (const auto read = quick(text)) {
      const auto other = slow(text);
      ASSERT_TRUE(other) << text;
      ASSERT_EQ(read->dump(-1, ' ', true), other->dump(-1, ' ', true)) << text;
      ++taken;
    }
  }
  EXPECT_GT(taken, 5'000) << "the texts are too wild to tell";
}

TEST(QuickReader, ReadsALongTextOfManyEscapes) {
  std::string text = "\"";
  std::string value;
  for (int i = 0; i < 50'000; ++i) {
    text += "line " + std::to_string(i) + "\\n\\u00e9";
    value += "line " + std::to_string(i) + "\né";
  }
  const auto read = quick(text + "\"");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->get<std::string>(), value);
  EXPECT_FALSE(quick(text)) << "it has no end";
}

TEST(PlainJsonLength, StopsAtWhateverIsNotItself) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
    for (const std::size_t before : {0U, 1U, 7U, 15U, 16U, 17U, 40U}) {
      std::string text(before, 'a');
      text += static_cast<char>(byte);
      text += std::string(20, 'z');
      EXPECT_EQ(plain_json_length(text), plain ? text.size() : before) << byte << " " << before;
    }
  }
  EXPECT_EQ(plain_json_length(""), 0U);
}

}  // namespace
}  // namespace bawn::contract::detail
