#include "bawn/contract/declare.hpp"

#include "bawn/contract/executor.hpp"
#include "bawn/contract/failure.hpp"
#include "bawn/contract/panic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

struct Document {
  std::string id{};
  static constexpr auto describe() { return fields(field("id", &Document::id)); }
};

Document echo(const Context&, const Document& document) {
  return document;
}

std::string defect_of(const DeclaredTool& tool) {
  return tool.defect() != nullptr ? tool.defect()->message() : "";
}

TEST(Declare, PublishesAToolThatAnswersWithItsOutput) {  // C-12, C-14
  const auto tool = declare_tool<Document>("documents.echo", echo, [](ToolDraft<Document>& draft) {
    draft.description("Echo a document").read_only(true).open_world(false);
  });
  ASSERT_EQ(tool.defect(), nullptr);
  EXPECT_EQ(dump_json(tool.call({}, R"({"id":"doc-42"})").value()), R"({"id":"doc-42"})");
  const ToolInfo info = tool.describe();
  EXPECT_EQ(info.name, "documents.echo");
  EXPECT_TRUE(info.annotations->read_only);
  EXPECT_TRUE(info.annotations->destructive);
  EXPECT_THAT(info.input_schema, HasSubstr(R"("additionalProperties":false)"));
  EXPECT_THAT(*info.output_schema, HasSubstr(R"("type":"object")"));
  const Outcome outcome = tool.tool().value()->execute({}, {.args = R"({"id":"a"})"});
  EXPECT_EQ(output_text(outcome.result), R"({"id":"a"})");
  EXPECT_EQ(dump_json(*outcome.result.structured), R"({"id":"a"})");
}

TEST(Declare, EditingAReportChangesNoTool) {  // C-13
  const auto tool = declare_tool<Document>(
      "t", echo, [](ToolDraft<Document>& draft) { draft.description("before").cli("g", "o"); });
  ToolInfo report = tool.describe();
  const std::string schema = report.input_schema;
  report.name = report.description = report.input_schema = "edited";
  report.cli->group = "edited";
  EXPECT_EQ(tool.describe().description, "before");
  EXPECT_EQ(tool.describe().input_schema, schema);
  EXPECT_EQ(tool.describe().cli->group, "g");
  EXPECT_EQ(tool.name(), "t");
  EXPECT_EQ(tool.tool().value()->definition().parameters, schema);
  EXPECT_TRUE(tool.call({}, R"({"id":"a"})"));
}

TEST(Declare, ADefaultToolIsInvalid) {  // C-12
  const DeclaredTool none;
  EXPECT_EQ(call_problem(*none.defect()), CallProblem::InvalidTool);
  EXPECT_FALSE(none.call({}));
  EXPECT_FALSE(none.tool());
  EXPECT_FALSE(none.available({}));
  EXPECT_EQ(none.name(), "");
}

TEST(Declare, EveryCallbackRunsOnceInOrderEvenOnAnInvalidDraft) {  // C-12
  std::string order;
  const auto tool = declare_tool<Document>(
      "bad name", echo,
      [&](ToolDraft<Document>& draft) {
        order += "1";
        draft.available({});
      },
      [&](ToolDraft<Document>& draft) {
        order += "2";
        draft.check({});
      },
      [&](ToolDraft<Document>&) { order += "3"; });
  EXPECT_EQ(order, "123");
  EXPECT_EQ(defect_of(tool), R"(tool "bad name": the availability policy is empty)");
  EXPECT_EQ(tool.name(), "bad name");
}

TEST(Declare, TheFirstDefectSticks) {  // C-12
  std::function<Document(const Context&, Document)> nothing;
  EXPECT_EQ(defect_of(declare_tool<Document>("t", nothing)), R"(tool "t": the handler is empty)");
  EXPECT_THAT(defect_of(declare_tool<Document>("no spaces please", echo)), HasSubstr("1 to 128"));
  EXPECT_THAT(
      defect_of(declare_tool<Document>("t", echo, [](auto& draft) { draft.input_schema("[]"); })),
      HasSubstr("input schema"));
  EXPECT_THAT(defect_of(declare_tool<Document>(
                  "t", echo, [](auto& draft) { draft.output_schema(R"({"type":"string"})"); })),
              HasSubstr("output schema"));
  EXPECT_THAT(
      defect_of(declare_tool<Document>("t", echo, [](auto& draft) { draft.positional({"id"}); })),
      HasSubstr("cli: group and operation"));
  EXPECT_THAT(defect_of(declare_tool<Document>(
                  "t", echo, [](auto& draft) { draft.cli("g", "o").example("e", R"({"id":7})"); })),
              HasSubstr("id: expected string"));
}

TEST(Declare, WhatCallbacksThrowPassesThrough) {  // C-12
  using Configure = std::function<void(ToolDraft<Document>&)>;
  EXPECT_THROW((void)declare_tool<Document>("t", echo, Configure()), std::bad_function_call);
  EXPECT_THROW((void)declare_tool<Document>(
                   "t", echo, [](ToolDraft<Document>&) { throw std::runtime_error("mine"); }),
               std::runtime_error);
}

TEST(Declare,
     DeclaringRunsNeitherHandlerNorPolicyAndAvailabilityComesBeforeDecoding) {  // C-12, C-113
  int asked = 0;
  int ran = 0;
  bool open = true;
  const auto tool = declare_tool<Document>(
      "t",
      [&](const Context&, const Document& document) {
        ++ran;
        return document;
      },
      [&](ToolDraft<Document>& draft) {
        draft.cli("g", "o").example("e", R"({"id":"a"})");
        draft.available([&](const Context&) -> Result<bool> {
          ++asked;
          return open;
        });
      });
  (void)tool.describe();
  EXPECT_EQ(asked + ran, 0);
  open = false;
  const auto refused = tool.call({}, "this is no JSON");
  EXPECT_EQ(call_problem(refused.error()), CallProblem::Unavailable);
  EXPECT_EQ(disclosed_text(refused.error(), ErrorDisclosure::ApprovedOnly),
            "the tool is not available");
  EXPECT_FALSE(tool.available({}).value());
  open = true;
  EXPECT_TRUE(tool.call({}, R"({"id":"a"})"));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(ran, 1);
}

TEST(Declare, AvailabilityAddsUpOnACopyAndAnEmptyPolicyIsADefect) {  // C-113
  const auto tool = declare_tool<Document>("t", echo);
  int asked = 0;
  const auto closed = tool.with_availability([](const Context&) -> Result<bool> { return false; })
                          .with_availability([&](const Context&) -> Result<bool> {
                            ++asked;
                            return true;
                          });
  EXPECT_FALSE(closed.available({}).value());
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(tool.available({}).value());
  EXPECT_THAT(defect_of(tool.with_availability({})), HasSubstr("policy is empty"));
  EXPECT_THAT(defect_of(DeclaredTool().with_availability({})), HasSubstr("nothing was declared"));
}

TEST(Declare, ACancelledContextRunsNothing) {  // C-113
  CancelSource source{Context()};
  source.cancel();
  int asked = 0;
  const auto tool =
      declare_tool<Document>("t", echo).with_availability([&](const Context&) -> Result<bool> {
        ++asked;
        return true;
      });
  EXPECT_EQ(tool.call(source.context(), R"({"id":"a"})").error().code(), ErrorCode::Cancelled);
  EXPECT_EQ(tool.available(source.context()).error().code(), ErrorCode::Cancelled);
  EXPECT_EQ(asked, 0);
}

TEST(Declare, ArgumentsAreExactAndNamedInTheRefusal) {  // C-12, C-95
  const auto tool = declare_tool<Document>("t", echo);
  for (const auto& [args, text] :
       {std::pair(R"({"id":"a","zz":1})", R"(invalid arguments: unexpected property "zz")"),
        std::pair("null", "invalid arguments: expected object, got null"),
        std::pair("", R"(invalid arguments: missing required property "id")"),
        std::pair(R"({"id":"a"} x)", "invalid arguments: not valid JSON")}) {
    const auto answer = tool.call({}, args);
    EXPECT_THAT(answer.error().message(), testing::StartsWith(text));
    EXPECT_EQ(call_problem(answer.error()), CallProblem::InvalidInput);
  }
}

TEST(Declare, ASuppliedInputSchemaIsServedAndEnforced) {  // C-14, C-32
  const std::string schema =
      R"({"type":"object","properties":{"id":{"type":"string","pattern":"^doc-"}}})";
  const auto tool = declare_tool<Document>(
      "t", echo, [&](ToolDraft<Document>& draft) { draft.input_schema(schema); });
  EXPECT_EQ(tool.describe().input_schema, schema);
  EXPECT_TRUE(tool.call({}, R"({"id":"doc-1"})"));
  const auto refused = tool.call({}, R"({"id":"other"})");
  EXPECT_EQ(call_problem(refused.error()), CallProblem::InvalidInput);
  EXPECT_THAT(refused.error().message(), testing::StartsWith("invalid arguments: id"));
}

TEST(Declare, AChecksViolationIsTheCallersAndItsFailureIsPrivate) {  // C-108
  const auto tool = declare_tool<Document>("t", echo, [](ToolDraft<Document>& draft) {
    draft.check([](const Context&, const Document& document) -> Result<> {
      if (document.id == "secret") {
        return fail(ErrorCode::Closed, "database at 10.0.0.1 is down");
      }
      return document.id.empty() ? Result<>(std::unexpected(violation("id: must not be empty")))
                                 : Result<>();
    });
  });
  const auto violated = tool.call({}, R"({"id":""})");
  EXPECT_EQ(violated.error().message(), "invalid arguments: id: must not be empty");
  EXPECT_EQ(call_problem(violated.error()), CallProblem::InvalidInput);
  const auto failed = tool.call({}, R"({"id":"secret"})");
  EXPECT_EQ(call_problem(failed.error()), CallProblem::ArgumentCheck);
  EXPECT_EQ(failed.error().message().find("10.0.0.1"), std::string::npos);
  EXPECT_TRUE(failed.error().is(ErrorCode::Closed));
}

TEST(Declare, WhatACheckThrowsIsItsFailureAndPrivate) {  // C-93, C-108
  const std::string secret = "invalid arguments: password of 10.0.0.1";
  using Check = std::function<Result<>(const Context&, const Document&)>;
  const Check throwing[] = {
      [&](const Context&, const Document&) -> Result<> { throw std::runtime_error(secret); },
      [&](const Context&, const Document&) -> Result<> { throw secret; },
      [](const Context&, const Document&) -> Result<> { throw 7; }};
  for (const Check& check : throwing) {
    const auto tool =
        declare_tool<Document>("t", echo, [&](ToolDraft<Document>& draft) { draft.check(check); });
    const auto answer = tool.call({}, R"({"id":"a"})");
    EXPECT_EQ(answer.error().message(), "the check of the arguments failed");
    EXPECT_EQ(call_problem(answer.error()), CallProblem::ArgumentCheck);
    EXPECT_NE(answer.error().find<Panic>(), nullptr);
    for (const auto disclosure : {ErrorDisclosure::Full, ErrorDisclosure::ApprovedOnly}) {
      EXPECT_EQ(disclosed_text(answer.error(), disclosure).find("10.0.0.1"), std::string::npos);
    }
    // Not the panic of the tool: its handler was not reached.
    const auto outcomes =
        Executor().results({}, {{.tool = tool.tool().value(), .call = {.args = R"({"id":"a"})"}}});
    EXPECT_EQ(outcomes[0].error->message(), "the check of the arguments failed");
  }
}

TEST(Declare, OutputThatIsNoObjectIsInvalid) {  // C-67
  const auto array =
      declare_tool<NoArgs>("t", [](const Context&, NoArgs) { return Json::array(); });
  EXPECT_EQ(call_problem(array.call({}).error()), CallProblem::InvalidOutput);
  struct Number {
    double value = std::numeric_limits<double>::infinity();
    static constexpr auto describe() { return fields(field("value", &Number::value)); }
  };
  const auto infinite = declare_tool<NoArgs>("t", [](const Context&, NoArgs) { return Number(); });
  const auto answer = infinite.call({});
  EXPECT_EQ(call_problem(answer.error()), CallProblem::InvalidOutput);
  EXPECT_EQ(disclosed_text(answer.error(), ErrorDisclosure::ApprovedOnly), "the tool failed");
}

TEST(Declare, AHandlersErrorKeepsItsIdentity) {  // C-106
  const auto tool = declare_tool<NoArgs>("t", [](const Context&, NoArgs) -> Result<Json> {
    return std::unexpected(tool_error("document is not available").wrap("private lookup"));
  });
  const auto answer = tool.call({});
  EXPECT_EQ(approved_failure(answer.error())->message, "document is not available");
  EXPECT_EQ(disclosed_text(answer.error(), ErrorDisclosure::ApprovedOnly),
            "document is not available");
}

TEST(Declare, WhatAHandlerThrowsPassesThrough) {  // C-108
  const auto tool = declare_tool<NoArgs>(
      "t", [](const Context&, NoArgs) -> Json { throw std::runtime_error("boom"); });
  EXPECT_THROW((void)tool.call({}), std::runtime_error);
}

}  // namespace
}  // namespace bawn::contract
