#include "bawn/contract/cli_info.hpp"

#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/tool_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

struct Args {
  std::string id{};
  int limit = 10;
  static constexpr auto describe() {
    return fields(field("id", &Args::id), field("limit", &Args::limit).optional());
  }
};

Result<ToolPtr> tool_with(CliInfo info) {
  return make_tool<Args>("find", "Find one", [](const Context&, const Args&) { return "found"; },
                         {.cli = std::move(info)});
}

std::string defect_of(CliInfo info) {
  const auto tool = tool_with(std::move(info));
  return tool ? "" : tool.error().message();
}

TEST(CliInfo, TravelsWithTheToolAndIsReportedDetached) {  // C-220, C-13
  const CliInfo info{.group = "documents",
                     .operation = "find",
                     .positional = {"id"},
                     .examples = {{"The first one", R"({"id":"a","limit":1})"}}};
  const ToolPtr tool = tool_with(info).value();
  ToolInfo report = describe_tool(*tool);
  EXPECT_EQ(report.cli, info);
  report.cli->group = "changed";
  report.description = "changed";
  EXPECT_EQ(cli_of(*tool)->group, "documents");
  EXPECT_EQ(tool->definition().description, "Find one");
  EXPECT_FALSE(
      describe_tool(*make_tool<Args>("find", "", [](const Context&, const Args&) {}).value()).cli);
}

TEST(CliInfo, IsWrittenWithWhatItSaysOnly) {  // C-220
  EXPECT_EQ(dump_json(to_json(CliInfo{.group = "g", .operation = "o"})),
            R"({"group":"g","operation":"o"})");
  EXPECT_EQ(dump_json(to_json(CliInfo{.group = "g",
                                      .operation = "o",
                                      .summary = "s",
                                      .role = "logs",
                                      .cursor = true,
                                      .positional = {"a"},
                                      .examples = {{"d", R"({"a":1})"}}})),
            R"({"group":"g","operation":"o","summary":"s","role":"logs","cursor":true,)"
            R"("positional":["a"],"examples":[{"description":"d","input":{"a":1}}]})");
}

TEST(CliInfo, EveryDefectFailsAtConstructionNamingTheTool) {  // C-220
  EXPECT_THAT(defect_of({.group = "", .operation = "o"}), HasSubstr(R"(make_tool("find"): cli: )"));
  EXPECT_THAT(defect_of({.group = "g", .operation = "a b"}), HasSubstr("group and operation"));
  EXPECT_THAT(defect_of({.group = "g", .operation = "o", .role = "admin"}),
              HasSubstr(R"(unknown role "admin")"));
  EXPECT_THAT(defect_of({.group = "g", .operation = "o", .positional = {"id", "id"}}),
              HasSubstr(R"("id" is named twice)"));
  EXPECT_THAT(defect_of({.group = "g", .operation = "o", .positional = {"nope"}}),
              HasSubstr(R"("nope" is no property)"));
}

TEST(CliInfo, ExamplesAreDecodedAsStrictlyAsArgumentsAndNeverRun) {  // C-220
  const auto example = [](std::string input) {
    return defect_of({.group = "g", .operation = "o", .examples = {{"e", std::move(input)}}});
  };
  EXPECT_EQ(example(R"({"id":"a"})"), "");
  EXPECT_THAT(example(R"({"id":1})"), HasSubstr(R"(example "e": id: expected string, got 1)"));
  EXPECT_THAT(example(R"({"id":"a","zz":1})"), HasSubstr(R"(unexpected property "zz")"));
  EXPECT_THAT(example(R"({"limit":1.0})"), HasSubstr("limit: expected integer"));
  EXPECT_THAT(example("[]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(example("{"), HasSubstr("not valid JSON"));
  const auto raw = make_raw_tool(
      "r", "", std::nullopt, [](const Context&, const Call&) { return text_result(""); },
      {.cli = CliInfo{.group = "g", .operation = "o", .examples = {{"e", "1"}}}});
  EXPECT_THAT(raw.error().message(), HasSubstr(R"(make_raw_tool("r"): cli: example "e")"));
}

}  // namespace
}  // namespace bawn::contract
