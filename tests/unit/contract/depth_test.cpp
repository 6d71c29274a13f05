// Values that a program built may be as deep as they like: whatever takes one ends in an answer.
#include "bawn/contract/canonical.hpp"
#include "bawn/contract/declare.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/json_schema.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/output_check.hpp"
#include "bawn/contract/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

constexpr int kDeep = 100'000;
constexpr std::string_view kRefusal = "nested deeper than 128 levels";

/// Containers in containers; `levels` of them.
Json nested(int levels, bool objects = false) {
  Json value = objects ? Json::object() : Json::array();
  for (int i = 1; i < levels; ++i) {
    Json outer = objects ? Json::object() : Json::array();
    (objects ? outer["a"] : outer.emplace_back()) = std::move(value);
    value = std::move(outer);
  }
  return value;
}

struct Holder {
  Json inner{};
  static constexpr auto describe() { return fields(field("inner", &Holder::inner)); }
};

struct NoArgs {
  static constexpr auto describe() { return fields(); }
};

TEST(Depth, AnyDepthIsWritten) {
  EXPECT_EQ(dump_json(nested(3)), "[[[]]]");
  for (const int levels : {128, 129, kDeep}) {
    const auto brackets = static_cast<std::size_t>(levels);
    EXPECT_EQ(dump_json(nested(levels)), std::string(brackets, '[') + std::string(brackets, ']'));
    const std::string text = dump_json(nested(levels, true));
    EXPECT_EQ(text.size(), 2 * brackets + 4 * (brackets - 1));
    EXPECT_THAT(text.substr(0, 11), R"({"a":{"a":{)");
  }
}

TEST(Depth, TheWriterOfDeepValuesWritesAsTheOtherOneDoes) {
  const auto mixed = [](Json inner) {
    Json value = Json::object();
    value["k\"\n\xff"] = Json::array({1, -2.5, nullptr, true, "é\x01\xff", Json::object()});
    value["inner"] = std::move(inner);
    value["last"] = Json::array();
    return value;
  };
  const std::string shallow = dump_json(mixed("HERE"));
  const std::size_t at = shallow.find("\"HERE\"");
  ASSERT_NE(at, std::string::npos);
  const std::string deep = dump_json(mixed(nested(200)));
  EXPECT_EQ(deep, shallow.substr(0, at) + dump_json(nested(200)) + shallow.substr(at + 6));
}

TEST(Depth, AValidatorRefusesWhatNoReaderTakes) {
  const std::string schemas[] = {"{}",
                                 R"({"uniqueItems":true})",
                                 R"({"enum":[[1]]})",
                                 R"({"const":[[1]]})",
                                 R"({"items":{"uniqueItems":true}})",
                                 R"({"contains":{"const":[]}})",
                                 R"({"items":{"$ref":"#"}})",
                                 R"({"additionalProperties":{"$ref":"#"}})"};
  for (const std::string& schema : schemas) {
    const auto compiled = JsonSchema::compile_text(schema).value();
    for (const bool objects : {false, true}) {
      for (const int levels : {129, kDeep}) {
        const auto refused = compiled.validate(nested(levels, objects));
        ASSERT_FALSE(refused) << schema;
        EXPECT_EQ(refused.error().message(), kRefusal);
      }
    }
    Json pair = Json::array();
    pair.push_back(nested(kDeep));
    pair.push_back(nested(kDeep));
    EXPECT_FALSE(compiled.validate(pair)) << schema;
  }
  EXPECT_TRUE(JsonSchema::compile_text(R"({"uniqueItems":true})")->validate(nested(128)));
}

TEST(Depth, NoSchemaAndNoCanonicalTextIsMadeOfThem) {
  EXPECT_EQ(JsonSchema::compile(nested(kDeep, true)).error().message(),
            "the schema is nested deeper than 128 levels");
  EXPECT_EQ(canonical_json(nested(kDeep)).error().message(),
            "canonical JSON: nested deeper than 128 levels");
  EXPECT_TRUE(canonical_json(nested(128)));
}

TEST(Depth, ATooDeepResultIsAnErrorOfTheCall) {
  const auto made =
      make_tool<NoArgs>("deep", "", [](const Context&, NoArgs) { return nested(kDeep); }).value();
  EXPECT_EQ(made->execute({}, {}).error->message(), "encode result: nested deeper than 128 levels");
  const auto holding = make_tool<NoArgs>("deep", "", [](const Context&, NoArgs) {
                         return Holder{.inner = nested(kDeep, true)};
                       }).value();
  EXPECT_THAT(holding->execute({}, {}).error->message(), HasSubstr(kRefusal));
  const auto declared =
      declare_tool<NoArgs>("deep", [](const Context&, NoArgs) { return nested(kDeep, true); });
  EXPECT_EQ(declared.call({}).error().message(), "invalid output: nested deeper than 128 levels");
  EXPECT_EQ(call_problem(declared.call({}).error()), CallProblem::InvalidOutput);
  const auto raw = make_raw_tool("deep", "", std::nullopt,
                                 [](const Context&, const Call&) {
                                   ToolResult result;
                                   result.structured = nested(kDeep, true);
                                   return Outcome(std::move(result));
                                 },
                                 {.output_schema = R"({"type":"object"})"})
                       .value();
  const auto kept = OutputCheck::of(*raw)->check(raw->execute({}, {}));
  EXPECT_THAT(kept.error().message(), HasSubstr(kRefusal));
}

TEST(Depth, ATooDeepRecordNeverReachesTheRecorder) {  // C-151, C-152
  int recorded = 0;
  const Context context = with_recorder({}, [&](const Context&, const Record&) {
    ++recorded;
    return Result<>();
  });
  class Deep final : public Details {
   public:
    std::string record_namespace() const override { return "test:deep"; }
    Result<Json> record_json() const override { return nested(kDeep); }
  };
  const Deep deep;
  EXPECT_EQ(write_record(context, &deep).error().message(),
            "bawn: record test:deep: nested deeper than 128 levels");
  EXPECT_EQ(recorded, 0);
}

}  // namespace
}  // namespace bawn::contract
