#include "bawn/contract/codec.hpp"

#include "bawn/contract/decode.hpp"
#include "bawn/contract/encode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

enum class Level { Low, High };
constexpr std::array<EnumName<Level>, 2> describe_enum(Level) {
  return {{{"low", Level::Low}, {"high", Level::High}}};
}

struct Port {
  int value = 0;
};
std::string to_text(const Port& port) {
  return ":" + std::to_string(port.value);
}
Result<> from_text(std::string_view text, Port& port) {
  if (!text.starts_with(':')) {
    return fail(ErrorCode::InvalidArgument, "a port is written :80");
  }
  port.value = std::stoi(std::string(text.substr(1)));
  return {};
}

struct Part {
  std::string name;
  static constexpr auto describe() { return fields(field("name", &Part::name)); }
};

struct All {
  std::int8_t small = 0;
  std::uint64_t large = 0;
  float real = 0;
  bool flag = false;
  std::optional<std::string> text;
  std::vector<std::int64_t> list;
  std::array<std::uint8_t, 2> pair{};
  std::map<std::string, Part> parts;
  std::vector<std::byte> bytes;
  std::chrono::milliseconds wait{};
  std::chrono::sys_time<std::chrono::milliseconds> when;
  Level level = Level::Low;
  Port port;
  Json any;
  Part part;
  static constexpr auto describe() {
    return fields(field("small", &All::small), field("large", &All::large),
                  field("real", &All::real), field("flag", &All::flag), field("text", &All::text),
                  field("list", &All::list), field("pair", &All::pair), field("parts", &All::parts),
                  field("bytes", &All::bytes), field("wait", &All::wait), field("when", &All::when),
                  field("level", &All::level), field("port", &All::port), field("any", &All::any),
                  embed(&All::part));
  }
};

TEST(Codec, EncodesAndDecodesEverySupportedType) {
  const std::string text =
      R"({"small":-128,"large":18446744073709551615,"real":0.5,"flag":true,"text":"t",)"
      R"("list":[9007199254740993,-9223372036854775808],"pair":[1,255],"parts":{"p":{"name":"n"}},)"
      R"("bytes":"aGkh","wait":1500,"when":"2026-02-28T23:59:59.25Z","level":"high",)"
      R"("port":":80","any":[1,{"a":null}],"name":"in place"})";
  const auto value = decode_text<All>(text);
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(value->wait, std::chrono::milliseconds(1500));
  EXPECT_EQ(value->level, Level::High);
  EXPECT_EQ(value->part.name, "in place");
  EXPECT_EQ(dump_json(encode(*value).value()), text);
}

TEST(Codec, MembersLeftOutKeepTheirInitialValues) {
  struct WithInitial {
    int count = 7;
    static constexpr auto describe() {
      return fields(field("count", &WithInitial::count).optional());
    }
  };
  EXPECT_EQ(decode_arguments<WithInitial>("")->count, 7);
  EXPECT_FALSE(decode_text<All>("{}")->text.has_value());
}

std::string refusal(std::string_view text, DecodeOptions options = {}) {
  const auto value = decode_text<All>(text, options);
  return value ? "accepted" : value.error().message();
}

TEST(Codec, IntegersAreRangeChecked) {
  EXPECT_EQ(refusal(R"({"small":128})"), "small: expected an integer from -128 to 127, got 128");
  EXPECT_THAT(refusal(R"({"large":18446744073709551616})"),
              HasSubstr("expected an integer from 0"));
  EXPECT_THAT(refusal(R"({"large":-1})"), HasSubstr("got -1"));
  EXPECT_THAT(refusal(R"({"list":[9223372036854775808]})"),
              HasSubstr("list[0]: expected an integer"));
  EXPECT_THAT(refusal(R"({"small":1e300})"), HasSubstr("expected an integer from -128"));
  EXPECT_EQ(refusal(R"({"small":1.5})"), "small: expected integer, got 1.5");
  EXPECT_EQ(refusal(R"({"small":"1"})"), "small: expected integer, got \"1\"");
  EXPECT_EQ(refusal(R"({"small":-0,"large":-0})"), "accepted");
}

TEST(Codec, WholeNumbersAreIntegersUnlessExactOnesAreWanted) {  // C-46, C-95
  EXPECT_EQ(decode_text<All>(R"({"small":1e2,"large":2.0})")->small, 100);
  EXPECT_EQ(refusal(R"({"small":1.0})", {.exact_integers = true}),
            "small: expected integer, got 1.0");
  EXPECT_EQ(refusal(R"({"small":1e0})", {.exact_integers = true}),
            "small: expected integer, got 1e0");
}

TEST(Codec, RefusesWrongTypesWithThePath) {
  EXPECT_THAT(refusal(R"({"real":1e39})"), HasSubstr("real: expected a number that fits"));
  EXPECT_EQ(refusal(R"({"flag":0})"), "flag: expected boolean, got 0");
  EXPECT_EQ(refusal(R"({"parts":{"x":{"name":1}}})"), "parts.x.name: expected string, got 1");
  EXPECT_EQ(refusal(R"({"pair":[1]})"), "pair: expected exactly 2 items, got 1");
  EXPECT_EQ(refusal(R"({"pair":[1,256]})"), "pair[1]: expected an integer from 0 to 255, got 256");
  EXPECT_EQ(refusal(R"({"bytes":"a"})"), "bytes: expected base64 text");
  EXPECT_EQ(refusal(R"({"bytes":"a$=="})"), "bytes: expected base64 text");
  EXPECT_EQ(refusal(R"({"level":"mid"})"), R"(level: expected one of ["low", "high"], got "mid")");
  EXPECT_EQ(refusal(R"({"port":"80"})"), "port: a port is written :80");
  EXPECT_EQ(refusal(R"({"small":null})"), "small: expected integer, got null");
  EXPECT_EQ(refusal(R"({"text":null})"), "accepted");
  EXPECT_EQ(refusal("[]"), "expected object, got array");
  EXPECT_EQ(refusal("null"), "expected object, got null");
}

TEST(Codec, DateTimesAreReadInEveryRfc3339Form) {
  const auto when = [](std::string_view text) {
    const auto value = decode_text<All>(R"({"when":")" + std::string(text) + "\"}");
    return value ? dump_json(encode(value->when).value()) : "refused";
  };
  EXPECT_EQ(when("2026-01-01T00:30:00+01:00"), R"("2025-12-31T23:30:00Z")");
  EXPECT_EQ(when("2026-01-01t00:00:00.1239z"), R"("2026-01-01T00:00:00.123Z")");
  EXPECT_EQ(when("1969-12-31T23:59:59.5Z"), R"("1969-12-31T23:59:59.5Z")");
  for (const std::string_view bad :
       {"", "2026-01-01", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx", "1500-01-01T00:00:00Z",
        "2026-1-01T00:00:00Z"}) {
    EXPECT_EQ(when(bad), "refused") << bad;
  }
}

TEST(Codec, UnknownMembersAreRefusedOnDemand) {
  EXPECT_EQ(refusal(R"({"zz":1,"yy":1})"), "accepted");
  EXPECT_EQ(refusal(R"({"zz":1,"yy":1})", {.reject_unknown = true}), R"(unexpected property "yy")");
  EXPECT_EQ(refusal(R"({"parts":{"p":{"q":1}}})", {.reject_unknown = true}),
            R"(parts.p: unexpected property "q")");
}

TEST(Codec, MissingMembersAreRefusedOnDemand) {
  EXPECT_EQ(refusal("{}", {.require_members = true}), R"(missing required property "small")");
}

TEST(Codec, ANumberThatJsonCannotWriteIsAnError) {
  All value;
  value.real = std::numeric_limits<float>::infinity();
  EXPECT_THAT(encode(value).error().message(), HasSubstr("real: JSON has no infinity"));
}

}  // namespace
}  // namespace bawn::contract
