#include "bawn/contract/wrap.hpp"

#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/make_tool.hpp"

#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

class NullCloser final : public Closer {
 public:
  Result<> close() override { return {}; }
};

class Counting final : public Tool {
 public:
  Counting() : Tool({.name = "counting"}, {}) {}
  Outcome execute(const Context&, const Call&) const override { return text_result("inner"); }
};

class Cycle final : public Tool {
 public:
  Cycle() : Tool({.name = "cycle"}, {}) {}
  Outcome execute(const Context&, const Call&) const override { return {}; }
  const Tool* unwrap() const noexcept override { return this; }
};

WrapFunction pass_on() {
  return [](const Context& context, const Call& call, const Tool& inner) {
    return inner.execute(context, call);
  };
}

// That a new property cannot be forgotten is a structured binding in wrap.cpp, which then fails to
// compile.
TEST(Wrap, ForwardsEveryPropertyAndTheDefinition) {  // C-80, C-81
  const auto closer = std::make_shared<NullCloser>();
  const ToolPtr inner =
      make_raw_tool(
          "t", "d", R"({"type":"object"})",
          [](const Context&, const Call&) { return text_result("inner"); },
          {.strict = true,
           .resource = "shell:a",
           .annotations = Annotations{.title = "T"},
           .confined = [](const Context&,
                          std::string_view) { return Confinement{.confined = true}; },
           .replay = [](const Context&, std::string_view) { return Replay::Safe; },
           .facts = [](const Context&, std::string_view) -> Result<Facts> { return Facts{}; },
           .availability = [](const Context&) -> Result<bool> { return false; },
           .closer = closer,
           .cli = CliInfo{.group = "g", .operation = "o"},
           .output_schema = R"({"type":"object"})"})
          .value();
  const ToolPtr outer = wrap(inner, pass_on()).value();
  EXPECT_EQ(outer->definition().name, "t");
  EXPECT_EQ(outer->definition().description, "d");
  EXPECT_EQ(outer->definition().parameters, inner->definition().parameters);
  EXPECT_TRUE(is_strict(*outer));
  EXPECT_EQ(resource_of(*outer), "shell:a");
  EXPECT_EQ(annotations_of(*outer)->title, "T");
  EXPECT_TRUE(confined_by(*outer, {}, "").confined);
  EXPECT_EQ(replay_of(*outer, {}, "", ""), Replay::Safe);
  EXPECT_TRUE(is_factual(*outer));
  EXPECT_FALSE(is_available(*outer, {}).value());
  EXPECT_EQ(output_schema_of(*outer), R"({"type":"object"})");
  EXPECT_EQ(outer->properties().closer, closer);
  EXPECT_EQ(outer->unwrap(), inner.get());
  EXPECT_EQ(cli_of(*outer)->operation, "o");
  EXPECT_EQ(call_problem(*outer->execute({}, {}).error), CallProblem::Unavailable);
}

TEST(Wrap, UnwrapIsStable) {  // C-83
  const ToolPtr inner = std::make_shared<const Counting>();
  const ToolPtr outer = wrap(inner, pass_on()).value();
  EXPECT_EQ(outer->unwrap(), inner.get());
  (void)outer->execute({}, {});
  EXPECT_EQ(outer->unwrap(), inner.get());
}

TEST(Wrap, ReplacesOnlyExecute) {
  const ToolPtr outer =
      wrap(std::make_shared<Counting>(), [](const Context& context, const Call& call,
                                            const Tool& inner) {
        return text_result("<" + output_text(inner.execute(context, call).result) + ">");
      }).value();
  EXPECT_EQ(output_text(outer->execute({}, {}).result), "<inner>");
}

TEST(Wrap, RefusesEmptyInputs) {
  EXPECT_FALSE(wrap(nullptr, pass_on()));
  EXPECT_FALSE(wrap(std::make_shared<Counting>(), {}));
}

TEST(Wrap, CapabilitiesAreFoundOutermostFirst) {  // C-82
  const auto innermost = std::make_shared<Counting>();
  ToolPtr tool = innermost;
  for (int i = 0; i < 10; ++i) {
    tool = wrap(tool, pass_on()).value();
  }
  EXPECT_EQ(capability<Counting>(*tool).value(), innermost.get());
  EXPECT_EQ(capability<Cycle>(*tool).value(), nullptr);
}

TEST(Wrap, AChainThatIsTooLongIsAnError) {  // C-82
  ToolPtr tool = std::make_shared<Counting>();
  for (std::size_t i = 0; i < kMaxWrapDepth; ++i) {
    tool = wrap(tool, pass_on()).value();
  }
  EXPECT_TRUE(capability<Cycle>(*tool));
  EXPECT_FALSE(capability<Cycle>(*wrap(tool, pass_on()).value()));
  EXPECT_FALSE(capability<Counting>(Cycle()));
}

}  // namespace
}  // namespace bawn::contract
