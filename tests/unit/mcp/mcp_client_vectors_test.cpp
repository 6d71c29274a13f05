/// \file
/// The shared vectors of a client: what became of a call, who must approve it, what a list may
/// hold, who answers a server's questions.
#include "bawn/contract/approval.hpp"
#include "bawn/contract/call_context.hpp"
#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/outcome_class.hpp"
#include "fake_tools.hpp"
#include "far_server.hpp"
#include "protocol.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

namespace bawn::mcp::test {
namespace {

using bawn::test::expect_known_members;
using bawn::test::play_rows;
using bawn::test::vectors;
using contract::Context;
using contract::ErrorCode;
using contract::Outcome;
using ::testing::HasSubstr;

/// One call of a tool whose server behaves as a row says.
struct Played {
  contract::Error error;
  bool sent = false;  ///< the server saw the call
  std::optional<contract::Annotations> hints{};
};

std::string tool_list(const Json& message) {
  Json tool = entry("t");
  tool["annotations"] = {{"readOnlyHint", true}};
  return result(message, {{"tools", Json::array({tool})}});
}

/// `answer` is what the server does with the call.
Played played(const std::function<std::string(const Json&)>& answer, const std::string& args = "{}",
              bool closed = false, std::optional<std::chrono::milliseconds> timeout = {}) {
  std::atomic<bool> sent = false;
  Pipes pipes;
  pipes.script([&](const Json& message) {
    if (message["method"] == "tools/list") {
      return tool_list(message);
    }
    sent = sent || message["method"] == "tools/call";
    return answer ? answer(message) : std::string();
  });
  const auto client =
      pipes.connect({.era = EraChoice::Modern, .max_result_bytes = 100, .call_timeout = timeout})
          .value();
  const auto tool = client->tools(Context()).value().front();
  if (closed) {
    client->close();
  }
  const Outcome outcome = run(tool, args);
  client->close();
  pipes.close_server();  // it has read all that was sent
  return {.error = outcome.error.value(), .sent = sent, .hints = tool->properties().annotations};
}

Json text_of_size(std::size_t bytes) {
  return {{"content", Json::array({Json{{"type", "text"}, {"text", std::string(bytes, 'x')}}})}};
}

Played play_outcome(const std::string& what) {
  if (what == "JSON-RPC error answer") {
    return played([](const Json& message) {
      return contract::dump_json(Json{{"jsonrpc", "2.0"},
                                      {"id", message["id"]},
                                      {"error", {{"code", -32603}, {"message", "no"}}}});
    });
  }
  if (what == "arguments not JSON") {
    return played({}, "{");
  }
  if (what == "session already closed") {
    return played({}, "{}", true);
  }
  if (what == "deadline passed while waiting") {
    return played({}, "{}", false, std::chrono::milliseconds(20));
  }
  if (what == "isError result") {
    return played([](const Json& message) {
      return result(message, {{"isError", true}, {"content", Json::array()}});
    });
  }
  if (what == "result over the limit") {
    return played([](const Json& message) { return result(message, text_of_size(500)); });
  }
  EXPECT_TRUE(what == "connection lost after the request was sent" ||
              what == "lost call of a retry-safe tool (trusted read-only)")
      << "nothing plays this";
  return played([](const Json&) { return std::string("quit"); });
}

TEST(ClientVectors, OutcomesAreClassedAsGiven) {  // C-104, C-181
  BAWN_REQUIRE("shared-vectors");
  const auto play = [](const Json& row) {
    const Played made = play_outcome(row.at("what"));
    const bool unknown = contract::outcome_class(made.error) == contract::OutcomeClass::Unknown;
    if (row.at("class") == "an ordinary failure the model sees") {
      EXPECT_TRUE(unknown);
      EXPECT_EQ(contract::settle(made.error, contract::safety_of(made.hints, true)),
                contract::Settlement::Failure);
      return;
    }
    EXPECT_EQ(unknown, row.at("class") == "unknown") << made.error.message();
    EXPECT_EQ(contract::settle(made.error, contract::safety_of(made.hints, false)),
              unknown ? contract::Settlement::Halt : contract::Settlement::Failure);
    EXPECT_EQ(made.sent, row.value("sent", true));
    EXPECT_EQ(made.error.is(ErrorCode::DeadlineExceeded), row.contains("wraps"));
    if (row.contains("kind")) {
      EXPECT_TRUE(made.error.is(ErrorCode::InvalidArgument)) << made.error.message();
    }
  };
  play_rows(vectors("mapping/limits.json").at("outcomes"),
            {"what", "class", "sent", "kind", "wraps"}, play);
}

TEST(ClientVectors, ListsAreTakenAsGiven) {  // C-170, C-172
  BAWN_REQUIRE("shared-vectors");
  const Json lists = vectors("mapping/limits.json").at("lists");
  expect_known_members(lists, {"duplicate_name", "pages"});
  EXPECT_EQ(lists.at("duplicate_name"), "refused");
  EXPECT_FALSE(listed({Json::array({entry("a"), entry("a")})}));
  EXPECT_EQ(lists.at("pages"), "followed to the end");
  EXPECT_EQ(listed({Json::array({entry("a")}), Json::array({entry("b")})})->size(), 2U);
}

// A null policy is a function that is not there, and "single" is one person's word.
TEST(ClientVectors, ApprovalsAreTakenAsGiven) {  // C-180
  BAWN_REQUIRE("shared-vectors");
  const contract::ApprovalQuestion yes = [](const Context&, const std::string&,
                                            const contract::AuthorizationRequest&) {
    return contract::Result<bool>(true);
  };
  const auto play = [&](const Json& row) {
    const bool none = row.contains("policy") && row.at("policy").is_null();
    const auto approval = contract::make_approval(
        {.need = row.value("need", std::size_t{1}),
         .approvers = row.value("approvers", std::vector<std::string>{"a", "b"})},
        none ? contract::ApprovalQuestion() : yes);
    if (!approval) {
      EXPECT_EQ(row.at("ok"), false) << approval.error().message();
      return;
    }
    const auto tools =
        listed({Json::array({entry("transfer")})},
               {.tools = {{.name = row.value("name", "transfer"), .approval = *approval}}});
    EXPECT_EQ(tools.has_value(), row.at("ok").get<bool>());
  };
  play_rows(vectors("mapping/limits.json").at("approval"),
            {"policy", "need", "approvers", "name", "ok"}, play);
}

/// Says yes, with the asking call's id.
contract::Result<contract::Answer> yes_by_call(const Context& context,
                                               const contract::Elicitation&) {
  return contract::Answer{.action = contract::AnswerAction::Accept,
                          .content = Json{{"id", contract::call_from(context)->id}}};
}

Outcome run_as(const contract::ToolPtr& tool, const std::string& id, const Context& context) {
  const contract::Call call{.id = id, .args = R"({"id":")" + id + "\"}"};
  return tool->execute(contract::with_call(context, call), call);
}

/// What an older server hears that asks once while `count` calls run.
std::string heard_by_an_older_server(std::size_t count) {
  std::string heard;
  std::vector<Json> calls;
  Pipes pipes;
  pipes.script([&](const Json& message) -> std::string {
    const std::string method = message.value("method", "");
    if (method == "initialize") {
      return result(message, {{"protocolVersion", "2025-11-25"},
                              {"capabilities", Json::object()},
                              {"serverInfo", {{"name", "old"}, {"version", "1"}}}});
    }
    if (method == "tools/list") {
      return tool_list(message);
    }
    if (method == "tools/call") {
      calls.push_back(message);
      return calls.size() < count
                 ? ""
                 : R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create",)"
                   R"("params":{"message":"Sure?","requestedSchema":{"type":"object"}}})";
    }
    if (message.value("id", Json()) != "q") {
      return "";
    }
    heard = message["result"]["action"];
    std::string all;
    for (const Json& call : calls) {
      all += (all.empty() ? "" : "\n") + result(call, text_of_size(1));
    }
    return all;
  });
  const auto client = pipes.connect({.era = EraChoice::Legacy, .elicitation = true}).value();
  const auto tool = client->tools(Context()).value().front();
  const Context context = contract::with_elicitor(Context(), yes_by_call);
  std::vector<std::future<Outcome>> running;
  for (std::size_t i = 0; i < count; ++i) {
    running.push_back(std::async(std::launch::async, run_as, tool, std::to_string(i), context));
  }
  for (auto& one : running) {
    EXPECT_FALSE(one.get().error);
  }
  client->close();
  return heard;
}

/// What a modern server answers that asks in every call: the question the first time, then what
/// came.
std::string asks_once(const Json& message) {
  if (message["method"] == "tools/list") {
    return tool_list(message);
  }
  const Json& params = message["params"];
  if (params.contains("inputResponses")) {
    const Json& content = params["inputResponses"]["q"]["content"];
    return result(
        message,
        {{"content", Json::array({Json{{"type", "text"}, {"text", content.value("id", "")}}})}});
  }
  return result(
      message, {{"resultType", "input_required"},
                {"requestState", "s"},
                {"inputRequests",
                 {{"q", {{"method", "elicitation/create"}, {"params", {{"message", "Sure?"}}}}}}}});
}

void expect_each_call_asked(std::size_t count) {
  Pipes pipes;
  pipes.script(asks_once);
  const auto client = pipes.connect({.era = EraChoice::Modern, .elicitation = true}).value();
  const auto tool = client->tools(Context()).value().front();
  const Context context = contract::with_elicitor(Context(), yes_by_call);
  std::vector<std::future<Outcome>> running;
  for (std::size_t i = 0; i < count; ++i) {
    running.push_back(std::async(std::launch::async, run_as, tool, std::to_string(i), context));
  }
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(contract::output_text(running[i].get().result), std::to_string(i));
  }
  client->close();
}

// The person is still thinking when the call is cancelled: it ends at once, and the server's tool,
// which waits for the answer, is told.
void expect_cancel_heard() {
  std::promise<std::string> heard;
  Pipes pipes;
  pipes.script([&](const Json& message) -> std::string {
    if (message.value("method", "") == "tools/call" &&
        message["params"].contains("inputResponses")) {
      heard.set_value(message["params"]["inputResponses"]["q"]["action"]);
      return "";
    }
    return message.value("method", "").starts_with("tools/") ? asks_once(message) : "";
  });
  const auto client = pipes.connect({.era = EraChoice::Modern, .elicitation = true}).value();
  const auto tool = client->tools(Context()).value().front();
  const contract::CancelSource source{Context()};
  const Context context = contract::with_elicitor(
      source.context(), [&](const Context& asking, const contract::Elicitation&) {
        source.cancel();
        return contract::Result<contract::Answer>(
            contract::fail(ErrorCode::Cancelled, asking.cancelled() ? "stopped" : "not stopped"));
      });
  EXPECT_TRUE(run(tool, "{}", context).error->is(ErrorCode::Cancelled));
  auto answer = heard.get_future();
  ASSERT_EQ(answer.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  EXPECT_EQ(answer.get(), "cancel");
  client->close();
}

/// What a client without elicitation offers, and the error of a call that is asked all the same.
std::pair<Json, std::string> without_elicitation() {
  Json offered;
  Pipes pipes;
  pipes.script([&](const Json& message) {
    offered = message["params"]["_meta"][meta::kClientCapabilities];
    return asks_once(message);
  });
  const auto client = pipes.connect({.era = EraChoice::Modern}).value();
  const auto tool = client->tools(Context()).value().front();
  const std::string error = run(tool, "{}").error->message();
  client->close();
  pipes.close_server();
  return {offered, error};
}

TEST(ClientVectors, QuestionsAreAnsweredAsGiven) {  // C-184, C-185
  BAWN_REQUIRE("shared-vectors");
  const auto play = [](const Json& row) {
    if (row.contains("elicitor")) {
      return;  // the contract's own: tests/unit/contract plays them
    }
    if (row.value("protocol", "") == "2025-11-25") {
      const std::string heard = heard_by_an_older_server(row.at("calls_in_flight"));
      EXPECT_EQ(heard == "accept", row.at("server_hears") == "that call's answer");
      EXPECT_EQ(heard == "cancel", row.at("server_hears") == "cancel");
    } else if (row.contains("protocol")) {
      expect_each_call_asked(row.at("calls_in_flight"));
    } else if (row.contains("call_cancelled_with_question_open")) {
      expect_cancel_heard();
    } else if (row.at("option") == "off") {
      EXPECT_FALSE(without_elicitation().first.contains("elicitation"));
    } else {
      EXPECT_EQ(row.at("option"), "round trips off");
      EXPECT_THAT(without_elicitation().second,
                  HasSubstr(row.at("call_error_contains").get<std::string>()));
    }
  };
  play_rows(vectors("mapping/elicitation.json").at("consume"),
            {"elicitor", "server_hears", "protocol", "calls_in_flight", "option", "call_returns",
             "call_cancelled_with_question_open", "call_error_contains"},
            play);
}

}  // namespace
}  // namespace bawn::mcp::test
