#include "bawn/contract/properties.hpp"

#include "bawn/contract/make_tool.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace bawn::contract {
namespace {

ToolPtr tool_with(ToolOptions options) {
  return make_raw_tool(
             "t", "", std::nullopt, [](const Context&, const Call&) { return text_result(""); },
             std::move(options))
      .value();
}

TEST(Properties, AToolThatDeclaresNothingReadsAsTheDefaults) {  // C-70, C-71
  const ToolPtr tool = tool_with({});
  EXPECT_FALSE(is_strict(*tool));
  EXPECT_FALSE(is_sequential(*tool));
  EXPECT_EQ(resource_of(*tool), "");
  EXPECT_FALSE(annotations_of(*tool));
  EXPECT_FALSE(confined_by(*tool, {}, "{}").confined);
  EXPECT_EQ(replay_of(*tool, {}, "{}", "key"), Replay::Unknown);
  EXPECT_FALSE(is_factual(*tool));
  EXPECT_FALSE(facts_of(*tool, {}, "{}"));
  EXPECT_TRUE(is_available(*tool, {}).value());
  EXPECT_FALSE(output_schema_of(*tool));
}

TEST(Properties, ASequentialToolHasNoResource) {  // C-73
  EXPECT_EQ(resource_of(*tool_with({.resource = "shell:a"})), "shell:a");
  EXPECT_EQ(resource_of(*tool_with({.sequential = true, .resource = "shell:a"})), "");
}

TEST(Properties, UnconfinedNamesNothing) {  // C-75
  const ToolPtr tool = tool_with({.confined = [](const Context&, std::string_view args) {
    return Confinement{.confined = args == "in", .by = "landlock"};
  }});
  EXPECT_EQ(confined_by(*tool, {}, "in").by, "landlock");
  EXPECT_EQ(confined_by(*tool, {}, "out").by, "");
}

TEST(Properties, KeyedWithoutAKeyIsUnknown) {  // C-76
  Replay said = Replay::Keyed;
  const ToolPtr tool =
      tool_with({.replay = [&said](const Context&, std::string_view) { return said; }});
  EXPECT_EQ(replay_of(*tool, {}, "", "k"), Replay::Keyed);
  EXPECT_EQ(replay_of(*tool, {}, "", ""), Replay::Unknown);
  said = Replay::Safe;
  EXPECT_EQ(replay_of(*tool, {}, "", ""), Replay::Safe);
  said = static_cast<Replay>(77);
  EXPECT_EQ(replay_of(*tool, {}, "", "k"), Replay::Unknown);
  EXPECT_EQ(to_string(Replay::Keyed), "keyed");
}

TEST(Properties, FactsDistinguishAbsentFromEmpty) {  // C-78
  const ToolPtr tool =
      tool_with({.facts = [](const Context&, std::string_view args) -> Result<Facts> {
        if (args.empty()) {
          return fail(ErrorCode::InvalidArgument, "no");
        }
        return args == "{}" ? Facts{} : Facts{.calls = std::vector<Fact>()};
      }});
  EXPECT_TRUE(is_factual(*tool));
  EXPECT_FALSE(facts_of(*tool, {}, ""));
  EXPECT_FALSE(facts_of(*tool, {}, "{}")->calls.has_value());
  EXPECT_TRUE(facts_of(*tool, {}, "x")->calls.has_value());
}

// A tool's author is not trusted to be careful; a harness that asks must not fall over.
TEST(Properties, WhatAToolThrowsWhenAskedReadsAsTheDefault) {  // C-71, C-75, C-76
  const ToolPtr tool =
      tool_with({.confined = [](const Context&, std::string_view) -> Confinement {
                   throw std::runtime_error("confined");
                 },
                 .replay = [](const Context&, std::string_view) -> Replay { throw 7; },
                 .facts = [](const Context&, std::string_view) -> Result<Facts> {
                   throw std::runtime_error("line\nend");
                 },
                 .availability = [](const Context&) -> Result<bool> {
                   throw std::runtime_error("private");
                 }});
  EXPECT_FALSE(confined_by(*tool, {}, "{}").confined);
  EXPECT_EQ(replay_of(*tool, {}, "{}", "key"), Replay::Unknown);
  EXPECT_EQ(facts_of(*tool, {}, "{}").error().message(), R"(tool "t" panicked: "line\nend")");
  EXPECT_FALSE(is_available(*tool, {}));
  const Outcome outcome = tool->execute({}, {});
  EXPECT_EQ(outcome.error->message(), R"(availability of tool "t" could not be decided)");
}

}  // namespace
}  // namespace bawn::contract
