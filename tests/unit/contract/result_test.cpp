#include "bawn/contract/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace bawn::contract {
namespace {

TEST(Result, OutputTextJoinsTextPartsAndSkipsOthers) {
  EXPECT_EQ(output_text(text_result("hi")), "hi");
  EXPECT_EQ(output_text({}), "");
  const Part image = {{"type", "input_image"}, {"image_url", "data:,"}};
  const Part first = {{"type", "text"}, {"text", "a"}};
  const Part second = {{"type", "text"}, {"text", "b"}};
  EXPECT_EQ(output_text(parts_result({first, image, Json(5), second})), "a\nb");
}

TEST(Result, AnErrorIsRenderedOnceAndKeepsDetailsAndTerminate) {  // C-64, C-100
  Outcome outcome(text_result("ignored"), Error(ErrorCode::ToolFailed, "boom"));
  outcome.result.terminate = true;
  outcome.result.structured = Json{{"exit_code", 1}};
  outcome.result.details = std::make_shared<Details>();
  outcome.result.confinement = Confinement{.confined = true, .by = "landlock"};
  const ToolResult shown = model_result(outcome);
  EXPECT_EQ(output_text(shown), "Error: boom");
  EXPECT_TRUE(shown.terminate);
  EXPECT_EQ(shown.structured, outcome.result.structured);
  EXPECT_EQ(shown.details, outcome.result.details);
  EXPECT_EQ(shown.confinement->by, "landlock");
  // Without an error the output is what it was.
  EXPECT_EQ(output_text(model_result(text_result("kept"))), "kept");
  EXPECT_EQ(output_text(error_result(Error(ErrorCode::ToolFailed, "x"))), "Error: x");
}

TEST(Result, ConfinementIsWrittenInTheOrderOfTheStruct) {
  Confinement report{.confined = true, .by = "landlock", .confirmed = true, .policy = "p"};
  report.layers.push_back({.name = "landlock", .applied = true, .abi = 6});
  report.layers.push_back({.name = "namespaces", .reason = "not permitted"});
  EXPECT_EQ(
      dump_json(to_json(report)),
      R"({"confined":true,"by":"landlock","confirmed":true,"policy":"p","policy_id":"","user":"","layers":[)"
      R"({"name":"landlock","requested":true,"applied":true,"abi":6,"missing":[],"reason":""},)"
      R"({"name":"namespaces","requested":true,"applied":false,"missing":[],"reason":"not permitted"}],)"
      R"("guarantees":[],"notes":[]})");
}

}  // namespace
}  // namespace bawn::contract
