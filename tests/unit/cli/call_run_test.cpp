#include "call_run.hpp"

#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/make_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace bawn::cli {
namespace {

using contract::Context;
using contract::Json;
using testing::HasSubstr;

contract::ToolPtr tool(contract::RawFunction function, contract::ToolOptions options = {}) {
  return contract::make_raw_tool("t", "", std::nullopt, std::move(function), std::move(options))
      .value();
}

/// Asks for a name and greets it.
contract::ToolPtr asking() {
  return tool([](const Context& context, const contract::Call&) -> contract::Outcome {
    const auto answer = contract::elicit(context, {.message = "Who?", .id = "name"});
    if (!answer) {
      return answer.error();
    }
    return contract::text_result(answer->action == contract::AnswerAction::Accept
                                     ? "hello " + answer->content->at("name").get<std::string>()
                                     : "nobody");
  });
}

Printed call(const contract::ToolPtr& tool, const CallWords& words = {}) {
  return print_call(run_call(tool, {}, words).value(), words.json);
}

TEST(CallRun, AResultIsPrintedAndIsStatusZero) {  // C-221
  const auto printed = call(tool([](const Context&, const contract::Call& call) {
                              return contract::text_result("got " + call.args);
                            }),
                            {.arguments = Json{{"a", 1}}});
  EXPECT_EQ(printed.out, "got {\"a\":1}\n");
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(static_cast<int>(printed.status), 0);
}

TEST(CallRun, AFailureIsOneLineOnStandardErrorAndStatusOne) {  // C-221
  const auto failing = tool([](const Context&, const contract::Call&) -> contract::Outcome {
    throw std::runtime_error("boom");
  });
  const auto printed = call(failing);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.err, "Error: tool \"t\" panicked: boom\n");
  EXPECT_EQ(static_cast<int>(printed.status), 1);
  EXPECT_THAT(call(failing, {.json = true}).out, HasSubstr(R"("error":{"code":"tool_panicked")"));
}

TEST(CallRun, ArgumentsThatTheToolRefusesAreStatusTwoWhoeverSaysSo) {  // C-49, C-221
  const auto refusing = [](const contract::Error& error) {
    return call(tool(
        [error](const Context&, const contract::Call&) -> contract::Outcome { return error; }));
  };
  EXPECT_EQ(static_cast<int>(refusing(contract::violation("a: no")).status), 2);
  const contract::Error said(contract::ErrorCode::InvalidArgument, "invalid arguments: a: no");
  EXPECT_EQ(static_cast<int>(refusing(said).status), 2);
  const contract::Error other(contract::ErrorCode::InvalidArgument, "no such place");
  EXPECT_EQ(static_cast<int>(refusing(other).status), 1);
}

TEST(CallRun, AnErrorsControlCharactersAreShownAndNotSentToTheTerminal) {
  const auto failing = tool([](const Context&, const contract::Call&) -> contract::Outcome {
    return contract::Error(contract::ErrorCode::NotFound, "no file \x1b[2J\u202e\nplain line\n");
  });
  EXPECT_EQ(call(failing).err, "Error: no file \\x1b[2J\\u202e\nplain line\n");
}

TEST(CallRun, AResultsControlCharactersAreShownAndNotSentToTheTerminal) {
  const auto printed = call(tool([](const Context&, const contract::Call&) {
    return contract::text_result("a\x1b[31mb\n\u202ec\t");
  }));
  EXPECT_EQ(printed.out, "a\\x1b[31mb\n\\u202ec\t\n");
}

TEST(CallRun, WhatNothingConfinedIsSaidOnStandardError) {
  const auto confined_by = [](contract::Confinement report) {
    return call(tool([report](const Context&, const contract::Call&) {
             auto result = contract::text_result("x");
             result.confinement = report;
             return result;
           }))
        .err;
  };
  EXPECT_EQ(confined_by({.policy = "p"}),
            "bawn: NOT CONFINED: of the policy p nothing is in force here\n");
  EXPECT_EQ(confined_by({.by = "seccomp", .policy = "p"}),
            "bawn: NOT CONFINED: of the policy p only seccomp is in force here\n");
  EXPECT_EQ(confined_by({.confined = true, .by = "landlock", .policy = "p"}), "");
  EXPECT_EQ(confined_by({.policy = "unconfined"}), "") << "asked for";
}

TEST(CallRun, AQuestionWithoutAnAnswerIsPrintedAndIsStatusThree) {  // C-221
  const auto printed = call(asking());
  EXPECT_EQ(printed.out, "{\"id\":\"name\",\"message\":\"Who?\"}\n");
  EXPECT_EQ(static_cast<int>(printed.status), 3);
}

TEST(CallRun, AnswersComeFromTheCommandLineInTheirOrder) {  // C-221
  EXPECT_EQ(
      call(asking(), {.answers = {Json{{"action", "accept"}, {"content", {{"name", "Ann"}}}}}}).out,
      "hello Ann\n");
  EXPECT_EQ(call(asking(), {.answers = {Json{{"action", "decline"}}}}).out, "nobody\n");
  for (const Json& bad : {Json{{"action", 7}}, Json::object()}) {
    EXPECT_THAT(call(asking(), {.answers = {bad}}).err, HasSubstr("needs an \"action\""));
  }
  EXPECT_THAT(call(asking(), {.answers = {Json{{"action", "maybe"}}}}).err,
              HasSubstr(R"(unknown action "maybe")"));
}

/// The status for a call whose structure says these things.
int status_of(const Json& structured) {
  return static_cast<int>(call(tool([&](const Context&, const contract::Call&) {
                            contract::ToolResult result = contract::text_result("text");
                            result.structured = structured;
                            return contract::Outcome(std::move(result));
                          })).status);
}

TEST(CallRun, TheStatusTellsACommandThatRanFromOneThatDidNot) {  // C-221
  const auto command = [](const char* reason, const char* message = "") {
    return status_of({{"state", "finished"}, {"reason", reason}, {"message", message}});
  };
  EXPECT_EQ(command("exited"), 0);
  EXPECT_EQ(command("signalled"), 0);
  EXPECT_EQ(command("exited", "cannot start x: No such file or directory"), 1);
  for (const int code : {0, 126, 127}) {  // 0: a syntax check, whose message says that nothing ran
    EXPECT_EQ(status_of({{"state", "finished"},
                         {"reason", "exited"},
                         {"message", "why nothing ran"},
                         {"exit_code", code}}),
              code == 0 ? 0 : 1);
  }
  EXPECT_EQ(command("timeout"), 124);
  for (const char* reason : {"cancelled", "output_limit", "oom", "denied", "syntax_error",
                             "incomplete_input", "shell_lost"}) {
    EXPECT_EQ(command(reason), 1) << reason;
  }
  // Other tools' structures are no commands.
  EXPECT_EQ(status_of({{"reason", "denied"}}), 0);
  EXPECT_EQ(status_of({{"state", "finished"}, {"reason", 7}}), 0);
  EXPECT_EQ(status_of({{"state", "open"}, {"reason", "denied"}}), 0);
  EXPECT_EQ(status_of(Json::array({"state", "reason"})), 0);
  EXPECT_EQ(status_of(nullptr), 0);
}

TEST(CallRun, AToolThatBreaksItsPromiseFails) {  // C-67
  const auto printed = call(tool(
      [](const Context&, const contract::Call&) { return contract::text_result("no structure"); },
      {.output_schema = R"({"type":"object"})"}));
  EXPECT_THAT(printed.err, HasSubstr("invalid output: the promised structure is missing"));
  EXPECT_EQ(static_cast<int>(printed.status), 1);
}

}  // namespace
}  // namespace bawn::cli
