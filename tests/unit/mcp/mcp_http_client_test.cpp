#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/mcp/http_client.hpp"
#include "client/mirrored_arguments.hpp"
#include "fake_tools.hpp"
#include "far_server.hpp"
#include "http_client.hpp"
#include "http_client/challenge.hpp"
#include "http_client/sse_reader.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>

namespace bawn::mcp::test {
namespace {

using contract::Call;
using contract::Context;
using contract::ErrorCode;
using contract::Json;
using contract::Outcome;
using contract::text_result;
using ::testing::HasSubstr;

contract::Result<std::shared_ptr<Client>> connect_to(const HttpFixture& http,
                                                     ClientOptions options = {},
                                                     HttpClientOptions given = {}) {
  return connect_http(Context(), "http://127.0.0.1:" + std::to_string(http.port()) + "/mcp",
                      std::move(options), std::move(given));
}

contract::ToolPtr described_tool(const std::string& name, const std::string& description) {
  return std::make_shared<const FakeTool>(
      contract::Definition{.name = name, .description = description, .parameters = {}},
      contract::Properties{}, [](const Context&, const Call&) { return text_result(""); });
}

class RemoteHttp : public ::testing::TestWithParam<EraChoice> {};

TEST_P(RemoteHttp, ItsToolsAreCalled) {
  const HttpFixture http({echo_tool()});
  const auto client = connect_to(http, {.era = GetParam(), .prefix = "far"});
  ASSERT_TRUE(client) << client.error().message();
  EXPECT_EQ((*client)->version(), GetParam() == EraChoice::Legacy ? "2025-11-25" : "2026-07-28");
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools) << tools.error().message();
  ASSERT_EQ(tools->size(), 1U);
  EXPECT_EQ((*tools)[0]->definition().name, "far__echo");
  for (const std::string arguments : {R"({"a":[1,"ü"]})", R"({"b":2})"}) {
    const Outcome outcome = run((*tools)[0], arguments);
    ASSERT_FALSE(outcome.error) << outcome.error->message();
    EXPECT_EQ(contract::output_text(outcome.result), arguments);
  }
  (*client)->close();
  EXPECT_THAT(run((*tools)[0], "{}").error->message(), HasSubstr("mcp: connection closed"));
}

TEST_P(RemoteHttp, QuestionsReachTheElicitorOfTheirCall) {
  const HttpFixture http({fake_tool("ask", [](const Context& context, const Call&) -> Outcome {
    const auto answer = contract::elicit(context, {.message = "Sure?"});
    return text_result(answer ? std::string(contract::to_string(answer->action)) : "failed");
  })});
  const auto client = connect_to(http, {.era = GetParam(), .elicitation = true});
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

TEST_P(RemoteHttp, ACancelledCallIsCancelledThere) {
  std::promise<void> started;
  std::promise<void> cancelled;
  const HttpFixture http({fake_tool("hang", [&](const Context& context, const Call&) -> Outcome {
    started.set_value();
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, context.stop_token(), std::chrono::minutes(2), [] { return false; });
    cancelled.set_value();
    return text_result("late");
  })});
  const auto client = connect_to(http, {.era = GetParam()});
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

TEST_P(RemoteHttp, ACallReturnsWithTheListThatItChanged) {
  std::function<void()> change;
  HttpFixture http({fake_tool("grow",
                              [&](const Context&, const Call&) -> Outcome {
                                change();
                                return text_result("grown");
                              })},
                   {.lists_change = true});
  change = [&] {
    ASSERT_TRUE(http.server().replace_tools({echo_tool()}));
    http.server().list_changed(ListKind::Tools);
  };
  const auto client = connect_to(
      http,
      {.era = GetParam(), .follow_tools = true, .notification_grace = std::chrono::minutes(1)});
  ASSERT_TRUE(client) << client.error().message();
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  EXPECT_FALSE(run((*tools)[0], "{}").error);
  const auto after = (*client)->await(Context());
  ASSERT_TRUE(after) << after.error().message();
  ASSERT_EQ(after->size(), 1U);
  EXPECT_EQ((*after)[0]->definition().name, "echo");
}

INSTANTIATE_TEST_SUITE_P(Eras, RemoteHttp,
                         ::testing::Values(EraChoice::Auto, EraChoice::Modern, EraChoice::Legacy),
                         [](const auto& choice) {
                           return choice.param == EraChoice::Auto     ? "Auto"
                                  : choice.param == EraChoice::Modern ? "Modern"
                                                                      : "Legacy";
                         });

TEST(RemoteHttp, SendsItsTokenAndSaysWhenItIsRefused) {
  HttpOptions options;
  options.tokens = {{.token = "aaaaaaaaaaaaaaaa", .account = "alice"}};
  const HttpFixture http({echo_tool()}, {}, options);
  EXPECT_TRUE(connect_to(http, {}, {.authorization = fixed_token("aaaaaaaaaaaaaaaa")}));
  for (const auto& wrong : {fixed_token("aaaaaaaaaaaaaaab"), std::shared_ptr<Authorization>()}) {
    const auto refused = connect_to(http, {}, {.authorization = wrong});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::PermissionDenied);
    EXPECT_EQ(refused.error().message().find("aaaaaaaa"), std::string::npos);
  }
}

TEST(RemoteHttp, AServerThatIsNotThereIsSaid) {
  const auto none = connect_http(Context(), "http://127.0.0.1:1/mcp");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::Closed);
  EXPECT_THAT(none.error().message(), HasSubstr("http://127.0.0.1:1/mcp"));
  EXPECT_EQ(connect_http(Context(), "ftp://x/").error().code(), ErrorCode::InvalidArgument);
}

TEST(RemoteHttp, AForgottenSessionIsBegunAnew) {
  HttpOptions options;
  options.max_sessions = 1;
  const HttpFixture http({echo_tool()}, {}, options);
  const auto client = connect_to(http, {.era = EraChoice::Legacy});
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  ASSERT_TRUE(connect_to(http, {.era = EraChoice::Legacy})) << "takes the only place";
  const Outcome outcome = run((*tools)[0], "{}");
  EXPECT_FALSE(outcome.error) << outcome.error->message();
}

TEST(RemoteHttp, RecordsAndConfinementComeFromTrustedServersOnly) {
  const auto tool = fake_tool("act", [](const Context&, const Call&) -> Outcome {
    contract::ToolResult result = text_result("done");
    result.confinement =
        contract::Confinement{.confined = true, .by = "landlock", .confirmed = true};
    result.details = std::make_shared<contract::RecordDetails>(
        contract::Record{.name_space = "test:thing", .data = {{"pid", 5}}});
    return result;
  });
  const HttpFixture http({tool});
  for (const bool trusted : {true, false}) {
    const auto client = connect_to(http, {.trusted = trusted});
    ASSERT_TRUE(client);
    const auto tools = (*client)->tools(Context());
    ASSERT_TRUE(tools);
    const Outcome outcome = run((*tools)[0], "{}");
    ASSERT_FALSE(outcome.error);
    EXPECT_EQ(outcome.result.confinement.has_value(), trusted);
    const auto record = contract::record_of(outcome.result.details.get());
    ASSERT_TRUE(record);
    ASSERT_EQ(record->has_value(), trusted);
    if (trusted) {
      EXPECT_EQ(outcome.result.confinement->by, "landlock");
      EXPECT_EQ((*record)->name_space, "test:thing");
      EXPECT_EQ((*record)->data, Json({{"pid", 5}}));
    }
  }
}

TEST(RemoteHttp, AListThatCannotBeReadAgainKeepsTheOneBefore) {
  HttpFixture http({echo_tool()}, {.lists_change = true});
  std::promise<std::string> said;
  std::atomic<bool> told = false;
  const auto client = connect_to(http, {.max_description_bytes = 100,
                                        .follow_tools = true,
                                        .on_refresh_error = [&](const contract::Error& error) {
                                          if (!told.exchange(true)) {
                                            said.set_value(error.message());
                                          }
                                        }});
  ASSERT_TRUE(client);
  ASSERT_TRUE((*client)->tools(Context()));
  const auto change_to = [&](const std::string& description) {
    ASSERT_TRUE(http.server().replace_tools({described_tool("other", description)}));
    http.server().list_changed(ListKind::Tools);
  };
  change_to(std::string(101, 'x'));
  auto words = said.get_future();
  ASSERT_EQ(words.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  EXPECT_THAT(words.get(), HasSubstr("description"));
  EXPECT_FALSE((*client)->await(Context())) << "the failure is given until a listing succeeds";
  change_to("short");
  ASSERT_TRUE((*client)->tools(Context()));
  const auto after = (*client)->await(Context());
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_EQ((*after)[0]->definition().name, "other");
}

TEST(RemoteHttp, NothingIsSentBeforeItsApproval) {
  std::atomic<int> ran = 0;
  const HttpFixture http({fake_tool("act", [&](const Context&, const Call&) -> Outcome {
    ++ran;
    return text_result("done");
  })});
  bool allowed = false;
  ClientOptions options;
  options.tools.push_back(
      {.name = "act",
       .approval = [&](const Context&,
                       const contract::AuthorizationRequest& request) -> contract::Result<bool> {
         EXPECT_EQ(request.args, Json({{"x", 1}}));
         return allowed;
       }});
  const auto client = connect_to(http, std::move(options));
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  EXPECT_TRUE(run((*tools)[0], R"({"x":1})").error);
  EXPECT_EQ(ran, 0);
  allowed = true;
  EXPECT_FALSE(run((*tools)[0], R"({"x":1})").error);
  EXPECT_EQ(ran, 1);
}

TEST(RemoteHttp, OnlyTheHostSaysThatACallMayRunAgain) {
  const HttpFixture http({echo_tool()});
  const auto replay = [&](ClientOptions options) {
    const auto client = connect_to(http, std::move(options));
    const auto tools = (*client)->tools(Context()).value();
    return contract::replay_of(*tools[0], Context(), "{}", "");
  };
  EXPECT_EQ(replay({}), contract::Replay::Unknown);
  ClientOptions own;
  own.tools.push_back({.name = "echo", .replay = contract::Replay::Safe});
  EXPECT_EQ(replay(own), contract::Replay::Safe);
  ClientOptions wrong;
  wrong.tools.push_back({.name = "eco", .sequential = true});
  const auto client = connect_to(http, wrong);
  ASSERT_TRUE(client);
  EXPECT_EQ((*client)->tools(Context()).error().code(), ErrorCode::InvalidArgument);
}

TEST(SseReader, GivesEventsHoweverTheyAreCut) {
  const std::string stream =
      "\xEF\xBB\xBF: comment\r\nid: 7\nretry: 20\ndata: a\ndata: b\n\nevent: "
      "x\ndata:\n\ndata:c\r\r";
  for (std::size_t part = 1; part <= stream.size(); ++part) {
    SseReader reader(1000);
    std::vector<std::string> events;
    for (std::size_t at = 0; at < stream.size(); at += part) {
      reader.feed(stream.substr(at, part));
      while (auto event = reader.next()) {
        events.push_back(*event);
      }
    }
    reader.feed("\n");
    while (auto event = reader.next()) {
      events.push_back(*event);
    }
    EXPECT_EQ(events, (std::vector<std::string>{"a\nb", "c"})) << part;
    EXPECT_EQ(reader.last_id(), "7");
    EXPECT_EQ(reader.retry(), std::chrono::milliseconds(20));
  }
}

TEST(SseReader, HoldsNoMoreThanItMay) {
  SseReader reader(100);
  reader.feed("data: " + std::string(200, 'x'));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_TRUE(reader.too_long());
}

TEST(Challenges, AreReadWhateverStandsAroundThem) {
  const auto challenge = read_challenge(
      403, R"(Basic realm="a, scope=\"x\"", Bearer error="insufficient_scope", scope="a b",)"
           R"( resource_metadata="https://h/x", DPoP algs="ES256")");
  EXPECT_EQ(challenge.error, "insufficient_scope");
  EXPECT_EQ(challenge.scope, "a b");
  EXPECT_EQ(challenge.metadata, "https://h/x");
  EXPECT_EQ(read_challenge(401, "").scope, std::nullopt);
  EXPECT_EQ(read_challenge(401, "Bearer").metadata, std::nullopt);
  EXPECT_EQ(read_challenge(401, R"(Bearer scope="unfinished \)").scope, "unfinished \\");
}

TEST(MirroredArguments, ThatNoClientCanFollowAreRefused) {
  const auto with = [](const Json& property) {
    return Json{{"type", "object"}, {"properties", {{"a", property}}}};
  };
  EXPECT_TRUE(mirrored_arguments(with({{"type", "string"}, {"x-mcp-header", "Region"}})));
  for (const Json& mark : {Json(""), Json("a b"), Json("a:b"), Json("ü"), Json(5)}) {
    EXPECT_FALSE(mirrored_arguments(with({{"type", "string"}, {"x-mcp-header", mark}}))) << mark;
  }
  for (const char* type : {"object", "array", "number", "null"}) {
    EXPECT_FALSE(mirrored_arguments(with({{"type", type}, {"x-mcp-header", "A"}}))) << type;
  }
  EXPECT_FALSE(mirrored_arguments(
      with({{"type", "array"}, {"items", {{"type", "string"}, {"x-mcp-header", "A"}}}})));
  Json twice = with({{"type", "string"}, {"x-mcp-header", "A"}});
  twice["properties"]["b"] = {{"type", "string"}, {"x-mcp-header", "a"}};
  EXPECT_FALSE(mirrored_arguments(twice));
  const Json nested = with(with({{"type", "integer"}, {"x-mcp-header", "N"}}));
  const auto found = mirrored_arguments(nested);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(mirrored_values(*found, {{"a", {{"a", 5}}}}),
            (std::vector<std::pair<std::string, std::string>>{{"Mcp-Param-N", "5"}}));
  EXPECT_TRUE(mirrored_values(*found, {{"a", {{"a", nullptr}}}}).empty());
  EXPECT_TRUE(mirrored_values(*found, {{"a", 3}}).empty());
}

}  // namespace
}  // namespace bawn::mcp::test
