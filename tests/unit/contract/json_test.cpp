#include "bawn/contract/json.hpp"

#include "bawn/contract/json_node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto value = parse_json(text);
  return value ? "accepted" : value.error().message();
}

TEST(Json, KeepsTheOrderOfMembers) {
  const auto value = parse_json(R"({"z":1,"a":{"y":[],"b":null}})");
  ASSERT_TRUE(value);
  EXPECT_EQ(dump_json(*value), R"({"z":1,"a":{"y":[],"b":null}})");
}

TEST(Json, RefusesADuplicateMemberInSmallAndLargeObjects) {
  EXPECT_EQ(refusal(R"({"a":1,"a":2})"), R"(not valid JSON: duplicate member "a")");
  std::string large = "{";
  for (int i = 0; i < 100; ++i) {
    large += "\"k" + std::to_string(i) + "\":0,";
  }
  EXPECT_EQ(refusal(large + R"("last":1})"), "accepted");
  EXPECT_EQ(refusal(large + R"("k3":1})"), R"(not valid JSON: duplicate member "k3")");
  EXPECT_EQ(refusal(R"({"a":{"b":1},"c":{"b":1}})"), "accepted");
}

TEST(Json, RefusesWhatNestsTooDeepAndAcceptsTheLimit) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(refusal(nested(kMaxJsonDepth)), "accepted");
  EXPECT_THAT(refusal(nested(kMaxJsonDepth + 1)), HasSubstr("nested deeper than 128 levels"));
  EXPECT_THAT(refusal(std::string(1'000'000, '[')), HasSubstr("nested deeper"));
}

TEST(Json, RefusesWhatIsNotOneDocument) {
  for (const std::string_view text :
       {"", " ", "{", "{} {}", "{}x", "nul", "'a'", "01", "1.", "+1", "[1,]", "{\"a\"}", "NaN"}) {
    EXPECT_THAT(refusal(text), HasSubstr("byte ")) << text;
  }
}

TEST(Json, RefusesBadText) {
  EXPECT_THAT(refusal(R"("\ud800")"), HasSubstr("surrogate"));
  EXPECT_THAT(refusal(R"("\udc00")"), HasSubstr("surrogate"));
  EXPECT_EQ(refusal(R"("\ud83d\ude00")"), "accepted");
  EXPECT_THAT(refusal("\"\xC3\x28\""), HasSubstr("byte 3"));
  EXPECT_THAT(refusal("\"\xED\xA0\x80\""), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("\"\n\""), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("\xEF\xBB\xBF{}"), HasSubstr("byte order mark"));
}

TEST(Json, RefusesANulByteBehindTheDocument) {
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal("{}\0{}"sv), "not valid JSON: byte 3: a NUL byte");
}

TEST(Json, RefusesNumbersBeyondADouble) {
  EXPECT_THAT(refusal("1e999"), HasSubstr("number overflow"));
  EXPECT_EQ(refusal("1e308"), "accepted");
}

TEST(Json, AMessageNeverRepeatsTheInput) {
  EXPECT_LT(refusal("{\"a\": " + std::string(100'000, 'x')).size(), 200U);
  EXPECT_LT(refusal(std::string(100'000, '9') + "e999").size(), 200U);
}

TEST(Json, DumpReplacesBadUtf8) {
  EXPECT_EQ(dump_json(Json("a\xFFz")), "\"a\xEF\xBF\xBDz\"");
}

TEST(JsonNode, KeepsNumbersAsWritten) {
  const auto node =
      parse_json_node(R"([1.50e3,-0,0,-7,9007199254740993,18446744073709551616,1E2])");
  ASSERT_TRUE(node);
  std::vector<std::string> literals;
  for (const auto& item : node->items) {
    literals.push_back(item.text);
  }
  EXPECT_THAT(literals, testing::ElementsAre("1.50e3", "-0", "0", "-7", "9007199254740993",
                                             "18446744073709551616", "1E2"));
}

TEST(JsonNode, ConvertsToTheSameJson) {
  const std::string text = R"({"b":[1,-2,2.5,true,null,"x"],"a":{},"big":18446744073709551615})";
  const auto node = parse_json_node(text);
  ASSERT_TRUE(node);
  EXPECT_EQ(dump_json(to_json(*node)), text);
}

TEST(JsonNode, EmptyArgumentsAreAnObject) {  // C-41
  EXPECT_EQ(dump_json(to_json(parse_arguments("").value())), "{}");
  EXPECT_EQ(dump_json(to_json(parse_arguments(" \n").value())), "{}");
  EXPECT_THAT(parse_arguments("{").error().message(),
              testing::StartsWith("invalid arguments: not valid JSON: "));
}

TEST(JsonNode, DescribesValuesForMessages) {  // C-45
  const auto described = [](std::string_view text) { return describe(*parse_json_node(text)); };
  EXPECT_EQ(described("null"), "null");
  EXPECT_EQ(described("1.50e3"), "1.50e3");
  EXPECT_EQ(described(R"("a\n")"), R"("a\n")");
  EXPECT_EQ(described("[1]"), "array");
  EXPECT_EQ(described("{}"), "object");
  EXPECT_LT(described("\"" + std::string(10'000, 'x') + "\"").size(), 300U);
}

}  // namespace
}  // namespace bawn::contract
