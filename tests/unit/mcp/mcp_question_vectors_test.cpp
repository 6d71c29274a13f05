/// \file
/// The shared vectors of questions that a server's tool puts to its client.
#include "bawn/contract/elicitation.hpp"
#include "fake_tools.hpp"
#include "pipe_client.hpp"
#include "protocol.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace bawn::mcp::test {
namespace {

using bawn::test::expect_known_members;
using bawn::test::play_rows;
using bawn::test::vectors;
using contract::Json;
using contract::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Outcome seen(const contract::Result<contract::Answer>& answer) {
  if (!answer) {
    return answer.error();
  }
  return contract::text_result(std::string(contract::to_string(answer->action)) + " " +
                               (answer->content ? answer->content->dump() : ""));
}

/// Asks one question and says what it sees of the answer.
contract::ToolPtr asking(contract::Elicitation question) {
  return fake_tool("ask", [question](const contract::Context& context, const contract::Call&) {
    return seen(contract::elicit(context, question));
  });
}

contract::Elicitation confirmation() {
  return {.message = "Sure?", .schema = Json::parse(R"({"type":"object","required":["confirm"],
                                          "properties":{"confirm":{"type":"boolean"}}})")};
}

/// A modern client with the words of one call.
class Caller {
 public:
  Caller(contract::ToolPtr tool, Json capabilities)
      : client_({std::move(tool)}), capabilities_(std::move(capabilities)) {}

  /// Calls, or goes on with the last question's state and these answers.
  Json call(const Json& answers = nullptr) {
    Json params = {
        {"name", "ask"},
        {"_meta",
         {{meta::kProtocolVersion, kModernVersion}, {meta::kClientCapabilities, capabilities_}}}};
    if (!answers.is_null()) {
      params["inputResponses"] = answers;
      params["requestState"] = state_;
    }
    const Json request = {
        {"jsonrpc", "2.0"}, {"id", ++id_}, {"method", "tools/call"}, {"params", params}};
    Json result = client_.call(request.dump()).value("result", Json());
    state_ = result.value("requestState", Json());
    return result;
  }
  /// What the tool said at the end.
  static std::string text(const Json& result) {
    return result.value("resultType", "") == "input_required"
               ? "a question"
               : result["content"][0].value("text", "");
  }

 private:
  PipeClient client_;
  Json capabilities_;
  Json state_{};
  int id_ = 0;
};

std::string key_of(const Json& asked) {
  return asked["inputRequests"].begin().key();
}

const Json kBoth = {{"elicitation", {{"form", Json::object()}, {"url", Json::object()}}}};

/// What the tool sees of an older client's answer.
std::string seen_of_older(const Json& answer) {
  PipeClient client({asking(confirmation())});
  client.call(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{"elicitation":{}},"clientInfo":{}}})");
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}})");
  const Json question = client.receive();
  EXPECT_EQ(question.value("method", ""), "elicitation/create") << question;
  client.send(
      contract::dump_json(Json{{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", answer}}));
  return client.receive()["result"]["content"][0]["text"];
}

/// Only the newest revision can leave an answer out; the person is then asked again, and here
/// stops.
std::string seen_of_nothing() {
  Caller caller(asking(confirmation()), kBoth);
  caller.call();
  const Json again = caller.call(Json::object());
  EXPECT_EQ(Caller::text(again), "a question");
  return Caller::text(caller.call({{key_of(again), {{"action", "cancel"}}}}));
}

TEST(QuestionVectors, AnswersReachTheToolAsGiven) {  // C-155, C-198
  BAWN_REQUIRE("shared-vectors");
  const auto play = [](const Json& row) {
    const Json& answer = row.at("answer");
    const std::string text = answer.is_null() ? seen_of_nothing() : seen_of_older(answer);
    if (row.contains("tool_sees")) {
      EXPECT_EQ(text, row.at("tool_sees").get<std::string>());
    } else {
      EXPECT_THAT(text, HasSubstr(row.at("error_contains").get<std::string>()));
    }
  };
  play_rows(vectors("mapping/elicitation.json").at("serve").at("answers"),
            {"answer", "tool_sees", "error_contains"}, play);
}

TEST(QuestionVectors, QuestionsAreNamedAsGiven) {  // C-198, C-199
  BAWN_REQUIRE("shared-vectors");
  EXPECT_EQ(vectors("mapping/elicitation.json").at("serve").at("question_ids"),
            "elicit_1, elicit_2, ... unless the caller names one");
  std::vector<std::string> keys;
  Caller caller(fake_tool("ask",
                          [](const contract::Context& context, const contract::Call&) {
                            for (const char* id : {"", "", "name"}) {
                              const auto answer =
                                  contract::elicit(context, {.message = "Sure?", .id = id});
                              if (!answer) {
                                return Outcome(answer.error());
                              }
                            }
                            return Outcome(contract::text_result("done"));
                          }),
                kBoth);
  Json result = caller.call();
  while (Caller::text(result) == "a question" && keys.size() < 4) {
    keys.push_back(key_of(result));
    result = caller.call({{keys.back(), {{"action", "accept"}, {"content", Json::object()}}}});
  }
  EXPECT_EQ(Caller::text(result), "done");
  EXPECT_THAT(keys, ElementsAre("elicit_1", "elicit_2", "name"));
}

TEST(QuestionVectors, ATenthQuestionIsRefusedAsGiven) {  // C-198
  BAWN_REQUIRE("shared-vectors");
  const Json serve = vectors("mapping/elicitation.json").at("serve");
  EXPECT_EQ(ServerOptions().max_rounds, serve.at("max_requests").get<std::size_t>());
  EXPECT_LE(ServerOptions().ask_timeout,
            std::chrono::minutes(serve.at("abandon_after_minutes").get<int>()));
  Caller caller(fake_tool("ask",
                          [](const contract::Context& context, const contract::Call&) {
                            while (true) {
                              const auto answer = contract::elicit(context, {.message = "More?"});
                              if (!answer) {
                                return Outcome(answer.error());
                              }
                            }
                          }),
                kBoth);
  Json result = caller.call();
  int questions = 0;
  while (Caller::text(result) == "a question" && questions < 20) {
    ++questions;
    result = caller.call({{key_of(result), {{"action", "accept"}, {"content", Json::object()}}}});
  }
  EXPECT_EQ(questions, 9);
  EXPECT_EQ("mcpserver: " + Caller::text(result), serve.at("tenth_question").get<std::string>());
}

TEST(QuestionVectors, WhatAClientDoesNotShowIsCancelledAsGiven) {  // C-198
  BAWN_REQUIRE("shared-vectors");
  const Json serve = vectors("mapping/elicitation.json").at("serve");
  expect_known_members(
      serve, {"question_ids", "max_requests", "abandon_after_minutes", "answers", "tenth_question",
              "mode_not_offered", "client_offers_nothing", "empty_elicitation_capability"});
  const contract::Elicitation page{.message = "Look", .url = "https://example.com/"};
  const auto first = [](const contract::Elicitation& question, const Json& capabilities) {
    return Caller::text(Caller(asking(question), capabilities).call());
  };
  EXPECT_EQ(serve.at("mode_not_offered"), "cancel");
  const Json pages = {{"elicitation", {{"url", Json::object()}}}};
  EXPECT_EQ(first(confirmation(), pages), "cancel ");
  EXPECT_EQ(first(page, pages), "a question");
  EXPECT_EQ(serve.at("empty_elicitation_capability"), "forms only");
  const Json empty = {{"elicitation", Json::object()}};
  EXPECT_EQ(first(page, empty), "cancel ");
  EXPECT_EQ(first(confirmation(), empty), "a question");
  EXPECT_EQ(serve.at("client_offers_nothing"), "no elicitor on the context");
  const auto reports =
      fake_tool("ask", [](const contract::Context& context, const contract::Call&) {
        return Outcome(contract::text_result(contract::has_elicitor(context) ? "one" : "none"));
      });
  EXPECT_EQ(Caller::text(Caller(reports, Json::object()).call()), "none");
  EXPECT_EQ(Caller::text(Caller(reports, empty).call()), "one");
}

}  // namespace
}  // namespace bawn::mcp::test
