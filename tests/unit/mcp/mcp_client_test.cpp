#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/outcome_class.hpp"
#include "bawn/contract/progress.hpp"
#include "bawn/mcp/client.hpp"
#include "fake_tools.hpp"
#include "far_server.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>

namespace bawn::mcp::test {
namespace {

using contract::Call;
using contract::Context;
using contract::ErrorCode;
using contract::Json;
using contract::Outcome;
using contract::text_result;
using ::testing::HasSubstr;

class RemoteServer : public ::testing::TestWithParam<EraChoice> {};

TEST_P(RemoteServer, ItsToolsAreCalled) {
  Pipes pipes;
  pipes.serve({echo_tool()});
  {
    const auto client = pipes.connect({.era = GetParam(), .prefix = "far"});
    ASSERT_TRUE(client) << client.error().message();
    EXPECT_EQ((*client)->version(), GetParam() == EraChoice::Legacy ? "2025-11-25" : "2026-07-28");
    const auto tools = (*client)->tools(Context());
    ASSERT_TRUE(tools) << tools.error().message();
    ASSERT_EQ(tools->size(), 1U);
    EXPECT_EQ((*tools)[0]->definition().name, "far__echo");
    const Outcome outcome = run((*tools)[0], R"({"a":[1,"ü"]})");
    ASSERT_FALSE(outcome.error);
    EXPECT_EQ(contract::output_text(outcome.result), R"({"a":[1,"ü"]})");
    (*client)->close();
    EXPECT_EQ(run((*tools)[0], "{}").error->message(), "mcp: connection closed");
  }
}

TEST_P(RemoteServer, QuestionsReachTheElicitorOfTheirCall) {
  Pipes pipes;
  pipes.serve({fake_tool("ask", [](const Context& context, const Call&) -> Outcome {
    const auto answer = contract::elicit(context, {.message = "Sure?"});
    return text_result(answer ? std::string(contract::to_string(answer->action)) : "failed");
  })});
  const auto client = pipes.connect({.era = GetParam(), .elicitation = true});
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  std::string asked;
  const Context context = contract::with_elicitor(
      Context(), [&](const Context&, const contract::Elicitation& question) {
        asked = question.message;
        return contract::Result<contract::Answer>(
            {.action = contract::AnswerAction::Accept, .content = Json::object()});
      });
  const Outcome outcome = run((*tools)[0], "{}", context);
  EXPECT_EQ(contract::output_text(outcome.result), "accept")
      << (outcome.error ? outcome.error->message() : "");
  EXPECT_EQ(asked, "Sure?");
  EXPECT_EQ(contract::output_text(run((*tools)[0], "{}").result), "cancel") << "nobody to ask";
}

TEST_P(RemoteServer, ACancelledCallIsCancelledThere) {
  std::promise<void> started;
  std::promise<void> cancelled;
  Pipes pipes;
  pipes.serve({fake_tool("hang", [&](const Context& context, const Call&) -> Outcome {
    started.set_value();
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, context.stop_token(), std::chrono::minutes(2), [] { return false; });
    cancelled.set_value();
    return text_result("late");
  })});
  const auto client = pipes.connect({.era = GetParam()});
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  const contract::CancelSource source{Context()};
  auto call =
      std::async(std::launch::async, [&] { return run((*tools)[0], "{}", source.context()); });
  ASSERT_EQ(started.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  source.cancel();
  EXPECT_EQ(call.get().error->code(), ErrorCode::Cancelled);
  EXPECT_EQ(cancelled.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
}

std::string name_of_era(const ::testing::TestParamInfo<EraChoice>& choice) {
  return choice.param == EraChoice::Auto     ? "Auto"
         : choice.param == EraChoice::Modern ? "Modern"
                                             : "Legacy";
}

INSTANTIATE_TEST_SUITE_P(Eras, RemoteServer,
                         ::testing::Values(EraChoice::Auto, EraChoice::Modern, EraChoice::Legacy),
                         name_of_era);

TEST(RemoteClient, FallsBackToTheHandshake) {
  Pipes pipes;
  pipes.script([](const Json& message) -> std::string {
    if (message["method"] == "server/discover") {
      return contract::dump_json(Json{{"jsonrpc", "2.0"},
                                      {"id", message["id"]},
                                      {"error", {{"code", -32601}, {"message", "what?"}}}});
    }
    if (message["method"] == "initialize") {
      return result(message, {{"protocolVersion", "2025-06-18"},
                              {"capabilities", Json::object()},
                              {"serverInfo", {{"name", "old"}, {"version", "1"}}}});
    }
    return {};
  });
  const auto client = pipes.connect();
  ASSERT_TRUE(client) << client.error().message();
  EXPECT_EQ((*client)->version(), "2025-06-18");
  EXPECT_EQ((*client)->server_info()["name"], "old");
}

TEST(RemoteClient, ListsAllPages) {
  const auto tools = listed({Json::array({entry("a")}), Json::array({entry("b"), entry("c")})});
  ASSERT_TRUE(tools) << tools.error().message();
  EXPECT_EQ(tools->size(), 3U);
}

TEST(RemoteClient, RefusesAListWithOneBadTool) {
  Json no_schema = entry("b");
  no_schema.erase("inputSchema");
  Json odd_output = entry("b");
  odd_output["outputSchema"] = {{"type", "array"}};
  for (const Json& bad : {entry("a b"), entry(""), entry("a"), no_schema, odd_output,
                          entry("b", std::string(8193, 'x')), Json(5)}) {
    const auto tools = listed({Json::array({entry("a"), bad})});
    EXPECT_FALSE(tools) << bad;
  }
  EXPECT_TRUE(listed({Json::array({entry("a"), entry("b", std::string(8192, 'x'))})}));
}

// What a host says of a tool that is not there would silently be lost.
TEST(RemoteClient, OptionsThatNameNoToolOfTheListAreRefused) {  // C-171, C-180
  const auto with = [](const std::string& name) {
    return listed({Json::array({entry("a"), entry("b")})},
                  {.prefix = "far", .tools = {{.name = name, .resource = "shell:1"}}});
  };
  EXPECT_TRUE(with("a"));
  EXPECT_TRUE(with("far__b"));
  EXPECT_THAT(with("aa").error().message(),
              HasSubstr(R"(the options name the tool "aa", which the server does not have)"));
}

// Its last claim stands, whichever spelling it uses; an empty one withdraws.
TEST(RemoteClient, TheLastClaimAboutAToolStands) {  // C-171
  const auto resource = [](std::vector<RemoteToolOptions> claims) {
    const auto tools =
        listed({Json::array({entry("a")})}, {.prefix = "far", .tools = std::move(claims)});
    return contract::resource_of(*tools->front());
  };
  EXPECT_EQ(resource({{.name = "far__a", .resource = "x:1"}, {.name = "a", .resource = "x:2"}}),
            "x:2");
  EXPECT_EQ(resource({{.name = "a", .resource = "x:1"}, {.name = "far__a", .resource = "x:2"}}),
            "x:2");
  EXPECT_EQ(resource({{.name = "a", .resource = "x:1"}, {.name = "far__a", .resource = ""}}), "");
  EXPECT_EQ(resource({{.name = "a", .resource = "x:1"}, {.name = "a", .sequential = true}}), "");
}

TEST(RemoteClient, LargeResultsFailAndSayThatTheyRan) {
  Pipes pipes;
  pipes.script([](const Json& message) {
    return message["method"] == "tools/list"
               ? result(message, {{"tools", Json::array({entry("big")})}})
               : result(message,
                        {{"content",
                          Json::array({Json{{"type", "text"}, {"text", std::string(500, 'x')}}})}});
  });
  const auto client = pipes.connect({.era = EraChoice::Modern, .max_result_bytes = 100});
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  EXPECT_THAT(run((*tools)[0], "{}").error->message(),
              HasSubstr(R"(tool "big" ran, but its result is 527 bytes, over the 100-byte limit)"));
}

TEST(RemoteClient, ATimeoutSaysThatTheOutcomeIsUnknown) {
  Pipes pipes;
  pipes.script([](const Json& message) {
    return message["method"] == "tools/list"
               ? result(message, {{"tools", Json::array({entry("slow")})}})
               : std::string();
  });
  const auto client =
      pipes.connect({.era = EraChoice::Modern, .call_timeout = std::chrono::milliseconds(20)});
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  const Outcome outcome = run((*tools)[0], "{}");
  EXPECT_EQ(outcome.error->code(), ErrorCode::DeadlineExceeded);
  EXPECT_EQ(contract::outcome_class(*outcome.error), contract::OutcomeClass::Unknown);
  EXPECT_THAT(outcome.error->message(), HasSubstr("not known"));
}

TEST(RemoteClient, TheServersEndEndsCalls) {
  Pipes pipes;
  pipes.script([](const Json& message) {
    return message["method"] == "tools/list"
               ? result(message, {{"tools", Json::array({entry("last")})}})
               : std::string("quit");
  });
  const auto client = pipes.connect({.era = EraChoice::Modern});
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  const Outcome outcome = run((*tools)[0], "{}");
  EXPECT_EQ(outcome.error->code(), ErrorCode::Closed) << outcome.error->message();
  EXPECT_EQ(contract::outcome_class(*outcome.error), contract::OutcomeClass::Unknown)
      << "it was sent";
  EXPECT_EQ(contract::outcome_class(*run((*tools)[0], "{}").error), contract::OutcomeClass::Known)
      << "it was not sent";
}

/// What a hostile server does is this connection's loss alone: no call waits longer than it was
/// given.
TEST(HostileServer, ThatReadsNothingHoldsNoCall) {
  std::promise<void> over;
  const auto until = over.get_future().share();
  Pipes pipes;
  pipes.script([until](const Json& message) -> std::string {
    if (message["method"] == "tools/list") {
      return result(message, {{"tools", Json::array({entry("a")})}});
    }
    until.wait();
    return {};
  });
  const auto client =
      pipes.connect({.era = EraChoice::Modern, .call_timeout = std::chrono::milliseconds(20)});
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  const std::string large = R"({"text":")" + std::string(1U << 20U, 'x') + R"("})";
  bool refused = false;
  for (int i = 0; i < 20 && !refused; ++i) {
    const Outcome outcome = run((*tools)[0], large);
    ASSERT_TRUE(outcome.error);
    refused = outcome.error->code() == ErrorCode::ResourceExhausted;
    EXPECT_TRUE(refused || outcome.error->code() == ErrorCode::DeadlineExceeded)
        << outcome.error->message();
  }
  EXPECT_TRUE(refused) << "what waits for it is bounded";
  const contract::CancelSource source{Context()};
  source.cancel();
  EXPECT_TRUE(run((*tools)[0], "{}", source.context()).error);
  (*client)->close();
  over.set_value();
}

TEST(HostileServer, ThatPrintsNonsenseIsLeft) {
  std::string nonsense;
  for (int i = 0; i < 200; ++i) {
    nonsense += "nonsense\n";
  }
  std::atomic<int> logged = 0;
  Pipes pipes;
  pipes.script([nonsense](const Json& message) {
    return message["method"] == "tools/list"
               ? result(message, {{"tools", Json::array({entry("a")})}})
               : nonsense;
  });
  const auto client =
      pipes.connect({.era = EraChoice::Modern, .log = [&](std::string_view) { ++logged; }});
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  EXPECT_EQ(run((*tools)[0], "{}").error->code(), ErrorCode::Closed);
  EXPECT_LE(logged, 102);
}

TEST(HostileServer, ThatAsksWithoutEndIsAnsweredWithoutTheUser) {
  std::string questions;
  constexpr int kQuestions = 1000;
  for (int i = 0; i < kQuestions; ++i) {
    questions += R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
                 R"(,"method":"elicitation/create","params":{"message":"?"}})" + "\n";
  }
  std::atomic<int> answered = 0;
  std::promise<void> all;
  Pipes pipes;
  pipes.script([&, questions](const Json& message) -> std::string {
    if (message.contains("result") && ++answered == kQuestions) {
      all.set_value();
    }
    const std::string method = message.value("method", "");
    if (method == "initialize") {
      return result(message, {{"protocolVersion", "2025-11-25"},
                              {"capabilities", {{"tools", Json::object()}}},
                              {"serverInfo", {{"name", "x"}, {"version", "1"}}}});
    }
    if (method == "tools/list") {
      return result(message, {{"tools", Json::array({entry("a")})}});
    }
    return method == "tools/call" ? questions : std::string();
  });
  const auto client = pipes.connect({.era = EraChoice::Legacy, .elicitation = true});
  ASSERT_TRUE(client) << client.error().message();
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  std::atomic<int> asked = 0;
  std::promise<void> go;
  const auto gone = go.get_future().share();
  const contract::CancelSource source{
      contract::with_elicitor(Context(), [&, gone](const Context&, const contract::Elicitation&) {
        ++asked;
        gone.wait();  // a person who thinks
        return contract::Result<contract::Answer>(contract::Answer{});
      })};
  auto call =
      std::async(std::launch::async, [&] { return run((*tools)[0], "{}", source.context()); });
  // All but those that wait for the person are answered at once.
  constexpr int kMostWaiting = 40;
  while (answered < kQuestions - kMostWaiting) {
    std::this_thread::yield();
  }
  go.set_value();
  EXPECT_EQ(all.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  EXPECT_GT(asked, 0);
  EXPECT_LE(asked, kMostWaiting);
  source.cancel();
  EXPECT_TRUE(call.get().error);
}

}  // namespace
}  // namespace bawn::mcp::test
