#include "bawn/contract/output_check.hpp"

#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/make_tool.hpp"

#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

ToolPtr promising(std::optional<std::string> schema) {
  return make_raw_tool("t", "", std::nullopt,
                       [](const Context&, const Call&) { return text_result(""); },
                       {.output_schema = std::move(schema)})
      .value();
}

Outcome with_structure(Json structured) {
  ToolResult result;
  result.structured = std::move(structured);
  return result;
}

TEST(OutputCheck, HoldsAToolToItsPromise) {  // C-67
  const auto check = OutputCheck::of(*promising(R"({"type":"object","required":["n"]})")).value();
  EXPECT_TRUE(check.check(with_structure({{"n", 1}})));
  const auto missing = check.check(with_structure(Json::object()));
  EXPECT_EQ(call_problem(missing.error()), CallProblem::InvalidOutput);
  EXPECT_FALSE(check.check(text_result("no structure")));
  EXPECT_TRUE(check.check(Error(ErrorCode::ToolFailed, "it failed")));
}

TEST(OutputCheck, WithoutAPromiseEverythingPasses) {  // C-67
  EXPECT_TRUE(OutputCheck::of(*promising(std::nullopt)).value().check(text_result("")));
}

TEST(OutputCheck, ABadSchemaNamesTheTool) {
  const auto check = OutputCheck::of(*promising(R"({"type":"object","required":7})"));
  EXPECT_NE(check.error().message().find(R"(tool "t": output schema)"), std::string::npos);
}

}  // namespace
}  // namespace bawn::contract
