#include "bawn/contract/make_tool.hpp"

#include "bawn/contract/output_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

struct AddArgs {
  int a = 0;
  int b = 0;
  static constexpr auto describe() {
    return fields(field("a", &AddArgs::a), field("b", &AddArgs::b).optional());
  }
};

struct Sum {
  int sum = 0;
  std::optional<std::string> note{};
  static constexpr auto describe() {
    return fields(field("sum", &Sum::sum), field("note", &Sum::note));
  }
};

Sum add(const Context& /*context*/, AddArgs args) {
  return {.sum = args.a + args.b};
}

template <class F>
Outcome run(F function, std::string args = "{\"a\":2,\"b\":3}", ToolOptions options = {}) {
  return make_tool<AddArgs>("add", "Adds", function, std::move(options))
      .value()
      ->execute({}, Call{.id = "c", .args = std::move(args)});
}

template <class F>
std::string text_of(F function) {
  const Outcome outcome = run(function);
  return outcome.error ? "Error: " + outcome.error->message() : output_text(outcome.result);
}

TEST(MakeTool, DerivesDefinitionAndOutputSchema) {  // C-8
  const ToolPtr tool = make_tool<AddArgs>("add", "Adds", add).value();
  EXPECT_EQ(tool->definition().name, "add");
  EXPECT_EQ(
      tool->definition().parameters,
      R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a"]})");
  EXPECT_EQ(
      output_schema_of(*tool),
      R"({"type":"object","properties":{"sum":{"type":"integer"},"note":{"type":"string"}},"required":["sum"]})");
}

TEST(MakeTool, AStructBecomesTextAndStructure) {  // C-63, C-67
  const Outcome outcome = run(add);
  EXPECT_EQ(output_text(outcome.result), R"({"sum":5})");
  ASSERT_TRUE(outcome.result.structured);
  EXPECT_EQ(dump_json(*outcome.result.structured), R"({"sum":5})");
}

TEST(MakeTool, MapsEveryKindOfReturnValue) {  // C-63
  using C = const Context&;
  using K = const Call&;
  EXPECT_EQ(text_of([](C, K call, AddArgs) { return call.id; }), "c");
  EXPECT_EQ(text_of([](C, AddArgs) { return "literal"; }), "literal");
  EXPECT_EQ(text_of([](C, AddArgs args) { return args.a; }), "2");
  EXPECT_EQ(text_of([](C, AddArgs) { return true; }), "true");
  EXPECT_EQ(text_of([](C, AddArgs) { return Json::array({1, "a", nullptr}); }), R"([1,"a",null])");
  EXPECT_EQ(text_of([](C, AddArgs) { return std::optional<std::string>(); }), "");
  EXPECT_EQ(text_of([](C, AddArgs) { return std::optional<int>(4); }), "4");
  EXPECT_EQ(text_of([](C, AddArgs) {}), "");
  EXPECT_EQ(text_of([](C, AddArgs) { return text_result("r"); }), "r");
  EXPECT_EQ(text_of([](C, AddArgs) { return Outcome(text_result("o")); }), "o");
  EXPECT_EQ(text_of([](C, AddArgs) -> Result<Sum> { return Sum{.sum = 9}; }), R"({"sum":9})");
  EXPECT_EQ(text_of([](C, AddArgs) -> Result<> { return {}; }), "");
  EXPECT_EQ(text_of([](C, AddArgs) -> Result<Sum> { return fail(ErrorCode::ToolFailed, "boom"); }),
            "Error: boom");
  EXPECT_EQ(text_of([](C, AddArgs) { return Error(ErrorCode::ToolFailed, "e"); }), "Error: e");
  EXPECT_THAT(text_of([](C, AddArgs) { return std::numeric_limits<double>::infinity(); }),
              HasSubstr("Error: encode result: "));
  const Outcome parts = run([](C, AddArgs) {
    return std::vector<Part>{Part{{"type", "input_image"}, {"image_url", "data:,"}}};
  });
  EXPECT_EQ(std::get<std::vector<Part>>(parts.result.output).size(), 1U);
}

/// What a server would say to the result of `function`, and the schema that it would promise.
template <class F>
std::pair<std::string, bool> promise_of(F function) {
  const ToolPtr tool = make_tool<AddArgs>("add", "", function).value();
  const Outcome outcome = tool->execute({}, Call{.args = R"({"a":1})"});
  const auto kept = OutputCheck::of(*tool).value().check(outcome);
  return {kept ? "" : kept.error().message(), output_schema_of(*tool).has_value()};
}

TEST(MakeTool, WhatIsSentFitsWhatWasPromisedWhateverTheFunctionReturns) {  // C-8, C-63, C-67
  using C = const Context&;
  const std::pair promised(std::string(), true);
  const std::pair free(std::string(), false);
  EXPECT_EQ(promise_of(add), promised);
  EXPECT_EQ(promise_of([](C, AddArgs) -> Result<Sum> { return Sum{}; }), promised);
  EXPECT_EQ(promise_of([](C, AddArgs) -> Result<Sum> { return fail(ErrorCode::Closed, "e"); }),
            promised);
  EXPECT_EQ(promise_of([](C, AddArgs) { return std::optional<Sum>(); }), free);
  EXPECT_EQ(promise_of([](C, AddArgs) { return std::optional(Sum{}); }), free);
  EXPECT_EQ(promise_of([](C, AddArgs) -> Result<std::optional<Sum>> { return std::nullopt; }),
            free);
  EXPECT_EQ(promise_of([](C, AddArgs) { return std::optional<Result<Sum>>(); }), free);
  EXPECT_EQ(promise_of([](C, AddArgs) { return 1; }), free);
  EXPECT_EQ(promise_of([](C, AddArgs) {}), free);
  EXPECT_EQ(promise_of([](C, AddArgs) { return text_result(""); }), free);
  // A value in an optional still has its structure.
  const Outcome full = run([](C, AddArgs) { return std::optional(Sum{.sum = 3}); });
  EXPECT_EQ(dump_json(full.result.structured.value()), R"({"sum":3})");
}

TEST(MakeTool, ValidatesThenDecodesThenCalls) {  // C-48
  EXPECT_EQ(run(add, "").error->message(), R"(invalid arguments: missing required property "a")");
  EXPECT_EQ(run(add, R"({"a":"x"})").error->message(),
            R"(invalid arguments: a: expected integer, got "x")");
  EXPECT_THAT(run(add, R"({"a":2147483648})").error->message(),
              HasSubstr("invalid arguments: a: expected an integer from -2147483648"));
  EXPECT_THAT(run(add, "{").error->message(), HasSubstr("invalid arguments: not valid JSON: "));
  EXPECT_FALSE(run(add, R"({"a":1,"unknown":2})").error);
}

TEST(MakeTool, AdditionalPropertiesFalseIsSaidAndEnforced) {
  const ToolOptions closed{.additional_properties = false};
  EXPECT_EQ(run(add, R"({"a":1,"c":2})", closed).error->message(),
            R"(invalid arguments: unexpected property "c")");
  const ToolPtr tool = make_tool<AddArgs>("add", "", add, closed).value();
  EXPECT_THAT(*tool->definition().parameters,
              testing::EndsWith(R"("required":["a"],"additionalProperties":false})"));
  EXPECT_FALSE(is_strict(*tool));
}

TEST(MakeTool, StrictRequiresEveryMember) {
  EXPECT_EQ(run(add, R"({"a":1})", {.strict = true}).error->message(),
            R"(invalid arguments: missing required property "b")");
}

TEST(MakeTool, SuppliedParametersAreServedAsTheyAreAndNotValidated) {  // C-10
  const std::string supplied = R"({ "type":"object", "required":["z"] })";
  const ToolOptions options{.parameters = supplied};
  EXPECT_EQ(make_tool<AddArgs>("add", "", add, options).value()->definition().parameters, supplied);
  EXPECT_FALSE(run(add, "{}", options).error);
  EXPECT_EQ(run(add, R"({"a":"x"})", options).error->message(),
            R"(invalid arguments: a: expected integer, got "x")");
}

TEST(MakeTool, WithoutValidationOnlyTheDecoderDecides) {  // C-48
  EXPECT_FALSE(run(add, "{}", {.without_validation = true}).error);
  EXPECT_TRUE(run(add, R"({"a":[]})", {.without_validation = true}).error);
}

struct Recursive {
  std::vector<Recursive> more;
  static constexpr auto describe() { return fields(field("more", &Recursive::more)); }
};

TEST(MakeTool, FailsAtConstructionNamingTheTool) {  // C-7, C-8
  const auto refused = [](auto made) { return made ? "made" : made.error().message(); };
  EXPECT_EQ(refused(make_tool<AddArgs>("x", "", std::function<Sum(const Context&, AddArgs)>())),
            R"(make_tool("x"): the function is empty)");
  EXPECT_EQ(refused(make_raw_tool("x", "", std::nullopt, {})),
            R"(make_raw_tool("x"): the function is empty)");
  EXPECT_THAT(refused(make_tool<Recursive>("r", "", [](const Context&, Recursive) {})),
              HasSubstr("make_tool(\"r\"): field \"more\": recursive"));
  EXPECT_THAT(refused(make_tool<AddArgs>("", "", add)), HasSubstr("empty name"));
  EXPECT_THAT(refused(make_tool<AddArgs>("x", "", add, {.parameters = "[]"})),
              HasSubstr("not a JSON object"));
  EXPECT_THAT(refused(make_tool<AddArgs>("x", "", add, {.output_schema = "{"})),
              HasSubstr("output schema: not valid JSON"));
}

TEST(MakeTool, ARawToolSeesTheArgumentsByteForByte) {  // C-7, C-60
  const std::string schema = R"({ "type" : "object" })";
  const ToolPtr tool = make_raw_tool("raw", "d", schema, [](const Context&, const Call& call) {
                         return text_result(call.args);
                       }).value();
  EXPECT_EQ(tool->definition().parameters, schema);
  EXPECT_EQ(output_text(tool->execute({}, {.args = "{ \"b\":1,\"a\":1.0 }"}).result),
            "{ \"b\":1,\"a\":1.0 }");
}

}  // namespace
}  // namespace bawn::contract
