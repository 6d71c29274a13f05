/// \file
/// The shared vectors of declared tools: their answers, the classes of their failures, and what may
/// be shown of them.
#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/cli_info.hpp"
#include "bawn/contract/declare.hpp"
#include "bawn/contract/failure.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <regex>

namespace bawn::contract {
namespace {

using bawn::test::expect_known_members;
using bawn::test::play_rows;
using bawn::test::vectors;

struct EchoArgs {
  std::string id{};
  static constexpr auto describe() { return fields(field("id", &EchoArgs::id)); }
};

DeclaredTool echoing() {
  return declare_tool<EchoArgs>("documents.echo",
                                [](const Context&, EchoArgs args) { return args; });
}

DeclaredTool failing(const Error& error) {
  return declare_tool<NoArgs>("t", [error](const Context&, NoArgs) -> Result<Json> {
    return std::unexpected(error.wrap("private context"));
  });
}

/// The tools that the vectors describe in words.
std::optional<DeclaredTool> tool_named(const std::string& words) {
  using Make = std::function<DeclaredTool()>;
  const auto approving = [](const Context&) -> Result<bool> {
    return std::unexpected(tool_error("x"));
  };
  const auto broken_check = [](ToolDraft<NoArgs>& draft) {
    draft.check([](const Context&, const NoArgs&) -> Result<> {
      return std::unexpected(tool_error("x").wrap("the database is down"));
    });
  };
  const std::map<std::string, Make> tools = {
      {"status, no input, empty output",
       [] {
         return declare_tool<NoArgs>("status", [](const Context&, NoArgs) { return NoArgs(); });
       }},
      {"documents.echo", echoing},
      {"returns a non-object",
       [] {
         return declare_tool<NoArgs>("t", [](const Context&, NoArgs) { return Json::array(); });
       }},
      {"private context wrapping ToolError(document is not available)",
       [] { return failing(tool_error("document is not available")); }},
      {"ToolError(empty)", [] { return failing(tool_error("")); }},
      {"unmarked", [] { return failing(Error(ErrorCode::Internal, "unmarked")); }},
      {"private context wrapping ToolFailure(unavailable, capture is disabled, {retry:false})",
       [] {
         return failing(tool_failure("unavailable", "capture is disabled", Json{{"retry", false}}));
       }},
      {"ToolFailure with empty code or non-object details",
       [] { return failing(tool_failure("", "m")); }},
      {"false",
       [] {
         return echoing().with_availability([](const Context&) { return Result<bool>(false); });
       }},
      {"error wrapping ToolError(x)", [&] { return echoing().with_availability(approving); }},
      {"operational failure wrapping ToolError(x)",
       [&] {
         return declare_tool<NoArgs>(
             "t", [](const Context&, NoArgs) { return NoArgs(); }, broken_check);
       }},
  };
  const auto found = tools.find(words);
  return found == tools.end() ? std::nullopt : std::optional(found->second());
}

/// Which tool a row is about: under `tool`, `handler`, `availability` or `input check`, or one that
/// fails with `error`; else the echo.
std::string words_of(const Json& row) {
  for (const char* member : {"tool", "handler", "availability", "input check"}) {
    if (row.contains(member)) {
      return row.at(member);
    }
  }
  return row.contains("approved") ? row.at("error") : "documents.echo";
}

void expect_approved(const Json& row, const Error& error) {
  const auto approved = approved_failure(error);
  if (row.at("approved").is_boolean()) {
    EXPECT_EQ(approved.has_value(), row.at("approved").get<bool>());
    return;
  }
  EXPECT_EQ(approved.has_value(), row.at("ok").get<bool>());
  EXPECT_EQ(approved ? approved->message : "", row.at("approved").get<std::string>());
}

void expect_failure(const Json& row, const Error& error) {
  const auto failure = approved_failure(error);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, row.at("code").get<std::string>());
  EXPECT_EQ(failure->message, row.at("message").get<std::string>());
  EXPECT_EQ(dump_json(*failure->details), row.at("details").get<std::string>());
  EXPECT_EQ(tool_failure(failure->code, failure->message, failure->details).message(),
            row.at("error_text").get<std::string>());
}

void expect_class(const Json& row, const Error& error) {
  const auto problem = call_problem(error);
  ASSERT_TRUE(problem);
  EXPECT_EQ(to_string(*problem), row.at("error").get<std::string>());
  EXPECT_EQ(*problem == CallProblem::InvalidInput,
            row.value("is_invalid_input", row.at("error") == "invalid input"));
  if (row.contains("adapter_may_show")) {
    EXPECT_EQ(approved_failure(error).has_value(), row.at("adapter_may_show").get<bool>());
    EXPECT_EQ(disclosed_text(error, ErrorDisclosure::ApprovedOnly), "the tool failed");
  }
}

void play(const Json& row) {
  if (row.contains("approved") && row.value("error", Json(0)).is_null()) {
    return;  // no error at all: here there is none to ask about
  }
  const auto tool = tool_named(words_of(row));
  ASSERT_TRUE(tool) << "no tool is " << words_of(row);
  ASSERT_EQ(tool->defect(), nullptr);
  // Arguments that cannot be read: what comes before reading answers first.
  const bool unread = row.contains("arguments_parsed") || row.contains("availability");
  const Json args = row.value("args", Json(unread ? "{" : ""));
  const auto answer = tool->call({}, args.is_null() ? "" : args.get<std::string>());
  if (row.contains("output")) {
    EXPECT_EQ(dump_json(answer.value()), row.at("output").get<std::string>());
    return;
  }
  ASSERT_FALSE(answer);
  if (row.contains("approved")) {
    expect_approved(row, answer.error());
  } else if (row.contains("code")) {
    expect_failure(row, answer.error());
  } else {
    expect_class(row, answer.error());
  }
}

TEST(DeclaredVectors, ToolsAnswerAsGiven) {  // C-12, C-67, C-106, C-107, C-108, C-113
  BAWN_REQUIRE("shared-vectors");
  play_rows(vectors("mapping/arkoren.json").at("cases"),
            {"tool", "args", "output", "error", "handler", "approved", "ok", "code", "message",
             "details", "error_text", "availability", "arguments_parsed", "adapter_may_show",
             "input check", "is_invalid_input"},
            play);
  // The other half of "empty code or non-object details".
  EXPECT_FALSE(approved_failure(tool_failure("c", "m", Json::array())));
}

TEST(DeclaredVectors, NamesFollowTheGivenPattern) {  // C-12
  BAWN_REQUIRE("shared-vectors");
  const Json names = vectors("mapping/arkoren.json").at("names");
  expect_known_members(names, {"pattern"});
  const std::regex pattern(names.at("pattern").get<std::string>());
  const auto is_taken = [](const std::string& name) {
    return declare_tool<NoArgs>(name, [](const Context&, NoArgs) { return NoArgs(); }).defect() ==
           nullptr;
  };
  for (int byte = 1; byte < 256; ++byte) {
    const std::string name = "a" + std::string(1, static_cast<char>(byte));
    EXPECT_EQ(is_taken(name), std::regex_match(name, pattern)) << byte;
  }
  for (const std::size_t length : {0U, 1U, 128U, 129U}) {
    const std::string name(length, 'x');
    EXPECT_EQ(is_taken(name), std::regex_match(name, pattern)) << length;
  }
}

TEST(DeclaredVectors, HintsAndRolesAreThoseGiven) {  // C-12, C-13, C-220
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/arkoren.json");
  const Annotations hints =
      declare_tool<NoArgs>("t", [](const Context&, NoArgs) { return NoArgs(); })
          .describe()
          .annotations.value();
  for (const Json& defaults : {file.at("annotation_defaults"),
                               vectors("mapping/annotations.json").at("seed003_defaults")}) {
    EXPECT_EQ(defaults, Json({{"readOnly", hints.read_only},
                              {"destructive", hints.destructive},
                              {"idempotent", hints.idempotent},
                              {"openWorld", hints.open_world}}));
  }
  for (const Json& role : file.at("cli_roles")) {
    EXPECT_TRUE(check_cli_info({.group = "g", .operation = "o", .role = role}, Json::object()))
        << role;
  }
  EXPECT_FALSE(check_cli_info({.group = "g", .operation = "o", .role = "x"}, Json::object()));
}

}  // namespace
}  // namespace bawn::contract
