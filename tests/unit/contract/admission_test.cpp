#include "bawn/contract/admission.hpp"

#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/registry.hpp"
#include "bawn/contract/wrap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

struct Args {
  std::int8_t value = 0;
  static constexpr auto describe() { return fields(field("value", &Args::value).optional()); }
};

ToolPtr echo(std::string name = "echo") {
  return make_tool<Args>(std::move(name), "d",
                         [](const Context&, const Call& call, Args args) {
                           return call.id + ":" + std::to_string(args.value);
                         },
                         {.additional_properties = false, .exact_arguments = true})
      .value();
}

class Checked final : public Tool, public InputValidator {
 public:
  explicit Checked(std::function<InputCheck()> declare)
      : Tool({.name = "checked"}, {}), declare_(std::move(declare)) {}
  Outcome execute(const Context&, const Call&) const override { return text_result("ran"); }
  InputCheck input_check() const override { return declare_(); }

 private:
  std::function<InputCheck()> declare_;
};

/// A tool that nobody checked when it was made.
class Stranger final : public Tool {
 public:
  explicit Stranger(std::string parameters)
      : Tool({.name = "x", .parameters = std::move(parameters)}, {}) {}
  Outcome execute(const Context&, const Call&) const override { return text_result(""); }
};

std::string refusal(const Contract& contract, Request request) {
  const auto invocation = contract.prepare(request);
  if (invocation) {
    return "accepted";
  }
  EXPECT_EQ(*invocation.error().find<AdmissionProblem>(), AdmissionProblem::InvalidInvocation);
  return invocation.error().message();
}

TEST(Admission, PreparesAndCalls) {  // C-90, C-92, C-94
  const Binding binding = Binding::bind(echo()).value();
  const auto invocation = binding.contract().prepare({"c1", "echo", R"({"value":5})"});
  ASSERT_TRUE(invocation);
  EXPECT_EQ(dump_json(invocation->arguments()), R"({"value":5})");
  EXPECT_EQ(output_text(binding.call({}, *invocation).result), "c1:5");
}

TEST(Admission, RefusesWhatIsNotAnAcceptableCall) {  // C-92
  const Contract contract = Binding::bind(echo()).value().contract();
  EXPECT_EQ(refusal(contract, {"c", "echo", ""}), "accepted");
  EXPECT_EQ(refusal(contract, {"c", "echo", "  "}), "accepted");
  EXPECT_THAT(refusal(contract, {"", "echo", "{}"}), HasSubstr("no id"));
  EXPECT_THAT(refusal(contract, {"c", "", "{}"}), HasSubstr("names the tool"));
  EXPECT_THAT(refusal(contract, {"c", "other", "{}"}), HasSubstr("names the tool \"other\""));
  for (const char* args : {"null", "[]", "\"text\"", R"({"unknown":true})",
                           R"({"value":1,"value":2})", "{} {}", "{", R"({"value":"\ud800"})"}) {
    EXPECT_THAT(refusal(contract, {"c", "echo", args}), HasSubstr("invalid invocation")) << args;
  }
  EXPECT_THAT(refusal(Contract(), {"c", "echo", "{}"}), HasSubstr("empty"));
}

TEST(Admission, TheTypedToolDecodesExactly) {  // C-95
  const Binding binding = Binding::bind(echo()).value();
  for (const char* args : {R"({"value":128})", R"({"value":1.0})", R"({"value":1e0})"}) {
    const auto invocation = binding.contract().prepare({"c", "echo", args});
    ASSERT_TRUE(invocation) << args;
    EXPECT_TRUE(binding.call({}, *invocation).error) << args;
  }
}

TEST(Admission, ABindingRefusesAnInvocationOfAnEqualTool) {  // C-94
  const Binding first = Binding::bind(echo()).value();
  const Binding second = Binding::bind(echo()).value();
  const auto invocation = first.contract().prepare({"c", "echo", "{}"});
  EXPECT_THAT(second.call({}, *invocation).error->message(), HasSubstr("another contract"));
}

TEST(Admission, RefusesAToolThatCannotBeBound) {  // C-90
  const auto refused = [](ToolPtr tool) {
    const auto binding = Binding::bind(std::move(tool));
    EXPECT_EQ(*binding.error().find<AdmissionProblem>(), AdmissionProblem::InvalidTool);
    return binding.error().message();
  };
  EXPECT_THAT(refused(nullptr), HasSubstr("no tool"));
  EXPECT_THAT(refused(echo("a.b")), HasSubstr("1 to 64"));
  EXPECT_THAT(refused(echo(std::string(65, 'a'))), HasSubstr("1 to 64"));
  EXPECT_THAT(refused(std::make_shared<Stranger>(R"({"type":"array"})")),
              HasSubstr("not of type \"object\""));
  EXPECT_THAT(refused(std::make_shared<Stranger>(R"({"type":"strng"})")), HasSubstr("wrong form"));
}

TEST(Admission, AToolThatChecksItsArgumentsIsKnownThroughWrappers) {
  const ToolPtr typed = echo();
  EXPECT_TRUE(checks_arguments(*typed));
  const auto forward = [](const Context& context, const Call& call, const Tool& inner) {
    return inner.execute(context, call);
  };
  EXPECT_TRUE(checks_arguments(*wrap(typed, forward).value()));
  EXPECT_FALSE(checks_arguments(Stranger("{}")));
}

TEST(Admission, TheContractOutlivesItsTool) {  // C-91
  ToolPtr tool = echo();
  const std::weak_ptr<const Tool> watch = tool;
  Contract contract = Binding::bind(std::move(tool)).value().contract();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(
      contract.definition().parameters,
      R"({"additionalProperties":false,"properties":{"value":{"type":"integer"}},"required":[],"type":"object"})");
}

TEST(Admission, ChecksAreCapturedOnceThroughWrappers) {  // C-90, C-93
  int declared = 0;
  const auto inner = std::make_shared<Checked>([&]() -> InputCheck {
    ++declared;
    return [](const Json& args) -> Result<> {
      if (args.contains("boom")) {
        throw std::runtime_error("boom");
      }
      return args.contains("no") ? Result<>(fail(ErrorCode::InvalidArgument, "never no"))
                                 : Result<>();
    };
  });
  const ToolPtr outer = wrap(inner, [](const Context& context, const Call& call, const Tool& tool) {
                          return tool.execute(context, call);
                        }).value();
  const Contract contract = Binding::bind(outer).value().contract();
  EXPECT_EQ(refusal(contract, {"c", "checked", "{}"}), "accepted");
  EXPECT_THAT(refusal(contract, {"c", "checked", R"({"no":1})"}), HasSubstr("never no"));
  const auto thrown = contract.prepare({"c", "checked", R"({"boom":1})"});
  EXPECT_EQ(thrown.error().find<Panic>()->value, "boom");
  EXPECT_EQ(declared, 1);
  const auto broken = std::make_shared<Checked>([]() -> InputCheck { throw 1; });
  EXPECT_EQ(*Binding::bind(broken).error().find<AdmissionProblem>(), AdmissionProblem::InvalidTool);
}

TEST(Admission, CancellationIsCheckedBeforeTheCallOnly) {  // C-95
  const CancelSource source{Context()};
  const ToolPtr tool = make_raw_tool("t", "", std::nullopt, [&](const Context&, const Call&) {
                         source.cancel();
                         return text_result("done");
                       }).value();
  const Binding binding = Binding::bind(tool).value();
  const auto invocation = binding.contract().prepare({"c", "t", ""});
  EXPECT_EQ(output_text(binding.call(source.context(), *invocation).result), "done");
  EXPECT_EQ(binding.call(source.context(), *invocation).error->code(), ErrorCode::Cancelled);
}

TEST(Admission, TheOutputBesideAnErrorIsEmpty) {  // C-95
  const ToolPtr tool = make_raw_tool("t", "", std::nullopt, [](const Context&, const Call&) {
                         return Outcome(text_result("half"), Error(ErrorCode::ToolFailed, "x"));
                       }).value();
  const Binding binding = Binding::bind(tool).value();
  const Outcome outcome = binding.call({}, *binding.contract().prepare({"c", "t", ""}));
  EXPECT_EQ(output_text(outcome.result), "");
  EXPECT_EQ(outcome.error->message(), "x");
}

TEST(Registry, AddsAllOrNothingAndSortsByName) {  // C-120
  Registry registry;
  EXPECT_TRUE(registry.definitions().empty());
  ASSERT_TRUE(registry.add({echo("b"), echo("a")}));
  EXPECT_EQ(registry.definitions()[0].name, "a");
  EXPECT_FALSE(registry.add({echo("c"), echo("a")}));
  EXPECT_FALSE(registry.resolve("c"));
  EXPECT_TRUE(registry.resolve("b"));
}

TEST(Registry, NamesTheFirstConflictInBatchOrder) {  // C-121
  Registry registry;
  ASSERT_TRUE(registry.add({echo("h"), echo("g")}));
  EXPECT_EQ(registry.add({echo("fresh"), echo("h"), echo("g")}).error().message(),
            R"(tool: duplicate tool: "h" is already registered)");
  EXPECT_EQ(registry.add({echo("same"), echo("same")}).error().message(),
            R"(tool: duplicate tool: "same" appears more than once in batch)");
  const auto bad = registry.add({echo("x"), nullptr});
  EXPECT_THAT(bad.error().message(), testing::StartsWith("tools[1]: invalid tool"));
  EXPECT_EQ(*bad.error().find<AdmissionProblem>(), AdmissionProblem::InvalidTool);
}

}  // namespace
}  // namespace bawn::contract
