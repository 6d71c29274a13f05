#include "json_text.hpp"
#include "message.hpp"
#include "raw_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace bawn::mcp {
namespace {

using ::testing::HasSubstr;

RequestId number(std::uint64_t value) {
  return RequestId(value);
}

Refusal refusal_of(std::string_view text) {
  const auto decoded = decode(text);
  EXPECT_FALSE(decoded) << text;
  return decoded ? Refusal{.id = {}, .error = {.code = RpcCode::InternalError, .message = {}}}
                 : decoded.error();
}

Message message_of(std::string_view text) {
  const auto decoded = decode(text);
  EXPECT_TRUE(decoded && decoded->message) << text;
  return decoded && decoded->message ? *decoded->message : Message{};
}

TEST(Decode, ReadsARequest) {
  const std::string text = R"({"jsonrpc":"2.0","id":3,"method":"m","params":{"a":[1]}})";
  const Message message = message_of(text);
  EXPECT_EQ(message.id, number(3));
  EXPECT_EQ(message.method, "m");
  EXPECT_EQ(message.params.find("a"), "[1]");
}

TEST(Decode, TakesAMessageWithoutIdForANotification) {
  EXPECT_EQ(message_of(R"({"jsonrpc":"2.0","method":"m"})").id, std::nullopt);
}

TEST(Decode, KeepsIdsWithTheirTypeAndAllTheirDigits) {
  const auto id_of = [](std::string_view id) {
    return message_of(R"({"jsonrpc":"2.0","method":"m","id":)" + std::string(id) + "}")
        .id.value()
        .to_json()
        .dump();
  };
  EXPECT_EQ(id_of("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(id_of("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(id_of("9007199254740993"), "9007199254740993");
  EXPECT_EQ(id_of("\"7\""), "\"7\"");
  EXPECT_EQ(id_of(R"("x\u00e9")"), "\"x\u00e9\"");
  EXPECT_EQ(id_of("-0"), "0");
}

TEST(Decode, RefusesIdsOfOtherTypesWithoutEchoingThem) {
  for (const auto* const id :
       {"null", "1.5", "1.0", "1e3", "{}", "[]", "true", "18446744073709551616"}) {
    const Refusal refusal =
        refusal_of(R"({"jsonrpc":"2.0","method":"ping","id":)" + std::string(id) + "}");
    EXPECT_EQ(refusal.error.code, RpcCode::InvalidRequest) << id;
    EXPECT_EQ(refusal.id, std::nullopt) << id;
  }
}

TEST(Decode, RefusesWrongTypesAtEveryField) {
  const struct {
    const char* text;
    RpcCode code;
  } cases[] = {
      {"1", RpcCode::InvalidRequest},
      {"\"x\"", RpcCode::InvalidRequest},
      {"[]", RpcCode::InvalidRequest},
      {R"({"id":1,"method":"m"})", RpcCode::InvalidRequest},
      {R"({"jsonrpc":2.0,"id":1,"method":"m"})", RpcCode::InvalidRequest},
      {R"({"jsonrpc":"1.0","id":1,"method":"m"})", RpcCode::InvalidRequest},
      {R"({"jsonrpc":"2.0","id":1,"method":5})", RpcCode::InvalidRequest},
      {R"({"jsonrpc":"2.0","id":1})", RpcCode::InvalidRequest},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":[]})", RpcCode::InvalidParams},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":null})", RpcCode::InvalidParams},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":"x"})", RpcCode::InvalidParams},
  };
  for (const auto& [text, code] : cases) {
    EXPECT_EQ(refusal_of(text).error.code, code) << text;
  }
}

TEST(Decode, RefusesTextThatIsNotStrictJson) {
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  for (const std::string& text :
       {std::string("nonsense"), std::string(R"({"jsonrpc":"2.0","id":1,"method":)"),
        std::string("\xEF\xBB\xBF{}"), std::string("{} {}"),
        std::string(R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"})"),
        std::string(R"({"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"b"})"),
        std::string(R"({"jsonrpc":"2.0","id":1,"method":"\ud800"})"),
        std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xC0\xAF\"}"),
        std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\tb\"}"),
        std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":1e400}}"),
        std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":01}}"),
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + deep + "}}"}) {
    EXPECT_EQ(refusal_of(text).error.code, RpcCode::ParseError) << text.substr(0, 80);
  }
}

TEST(Decode, NamesTheRequestOfABrokenMessageWhenItsIdWasRead) {
  EXPECT_EQ(refusal_of(R"({"jsonrpc":"2.0","id":7,"method":"a","method":"b"})").id, number(7));
  EXPECT_EQ(refusal_of(R"({"jsonrpc":"2.0","method":"a)").id, std::nullopt);
  EXPECT_EQ(refusal_of(R"({"id":12)").id, std::nullopt) << "the number may go on";
}

TEST(Decode, RepeatsNoLongWordOfTheClient) {
  const std::string name = '"' + std::string(1 << 20, 'n') + '"';
  EXPECT_LT(refusal_of("{" + name + ":1," + name + ":2}").error.message.size(), 300U);
}

TEST(Decode, RefusesMoreValuesThanATreeShouldHave) {
  std::string text = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[0)";
  for (std::size_t i = 0; i < kMaxValues; ++i) {
    text += ",0";
  }
  text += "]}}";
  const Refusal refusal = refusal_of(text);
  EXPECT_EQ(refusal.error.code, RpcCode::InvalidRequest);
  EXPECT_EQ(refusal.id, number(1));
}

TEST(Decode, IgnoresAnswers) {
  EXPECT_TRUE(message_of(R"({"jsonrpc":"2.0","id":1,"result":{}})").answer);
  EXPECT_TRUE(message_of(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}})").answer);
}

TEST(Decode, SplitsABatchIntoTheTextsOfItsMessages) {
  const std::string text = R"([ {"a":"]"} , {"b":[1,{"c":2}]} ])";
  const auto decoded = decode(text);
  ASSERT_TRUE(decoded);
  EXPECT_THAT(decoded->batch, ::testing::ElementsAre(R"({"a":"]"})", R"({"b":[1,{"c":2}]})"));
}

TEST(Decode, RefusesABatchOfTooManyMessages) {
  std::string text = "[1";
  for (std::size_t i = 0; i < kMaxBatch; ++i) {
    text += ",1";
  }
  EXPECT_EQ(refusal_of(text + "]").error.code, RpcCode::InvalidRequest);
}

TEST(Decode, FindsMembersWhoseNamesAreEscaped) {
  const std::string text =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","p\u0061rams":{"n\u0061me":"x"}})";
  EXPECT_EQ(message_of(text).params.find("name"), "\"x\"");
}

// The fast reader must never accept what the strict one refuses.
TEST(ScanMessage, AgreesWithTheStrictReaderOnMutatedMessages) {
  const std::string seeds[] = {
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,-2.5,true,null,"\u00e9\n"],"b":{}}}})",
      R"({"a":"\u0041\\\/","é":"日本","n":[0,-0,10.25,[[]],{"k":[{}]}]})",
      R"( { "a" : { "b" : [ ] , "c" : 12345678901234567890 } } )"};
  const std::string alphabet = "{}[]\",:\\u0123456789-+.eEtrufalsn \t\n\xC3\xA9\x80\xED\xA0";
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same cases each time
  const auto pick = [&](std::size_t size) { return random() % size; };
  int accepted = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string text = seeds[pick(std::size(seeds))];
    for (std::size_t edits = 1 + pick(3); edits > 0; --edits) {
      const std::size_t at = pick(text.size());
      switch (pick(3)) {
        case 0:
          text[at] = alphabet[pick(alphabet.size())];
          break;
        case 1:
          text.insert(at, 1, alphabet[pick(alphabet.size())]);
          break;
        default:
          text.erase(at, 1 + pick(3));
      }
    }
    const auto fast = scan_message(text, kMaxValues);
    const auto strict = contract::parse_json(text);
    accepted += fast ? 1 : 0;
    ASSERT_TRUE(!fast || (strict && strict->is_object())) << text;
    if (strict && strict->is_object()) {
      const auto slow = raw_message(text);
      for (const auto& [name, value] : strict->items()) {
        const auto raw = slow.members.find(name);
        ASSERT_TRUE(raw) << text;
        ASSERT_EQ(contract::parse_json(*raw).value(), value) << text;
        ASSERT_TRUE(!fast || fast->members.find(name) == raw) << text;
      }
    }
  }
  EXPECT_GT(accepted, 1000);
}

TEST(ScanMessage, LeavesDeepTextAlone) {
  const std::string text = R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_FALSE(scan_message(text, kMaxValues));
}

TEST(AppendJson, WritesWhatTheLibraryWrites) {
  const contract::Json value = {
      {"text", "a\"\\\b\f\n\r\t\x01\x1f é 日本 \U0001F600 / \x7f"},
      {"broken", "a\xC3(\xA0\xED\xA0\x80\xF0\x9F"},
      {"numbers", {0, -1, 1.5, 1e300, 18446744073709551615ULL}},
      {"rest", {nullptr, true, false, contract::Json::object(), contract::Json::array()}}};
  std::string text;
  append_json(text, value);
  EXPECT_EQ(text, contract::dump_json(value));
}

TEST(Shown, QuotesAndCutsAClientsWords) {
  EXPECT_EQ(shown("a\n\u202e"), R"("a\n\u202e")");
  EXPECT_LT(shown(std::string(1 << 20, 'a')).size(), 100U);
}

}  // namespace
}  // namespace bawn::mcp
