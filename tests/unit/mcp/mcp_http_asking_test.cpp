// Questions to modern clients: rounds with a state that only this server makes.
#include "bawn/contract/elicitation.hpp"
#include "fake_tools.hpp"
#include "http_client.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace bawn::mcp::test {
namespace {

using contract::Call;
using contract::Context;
using contract::Json;
using contract::Outcome;
using contract::text_result;

/// Asks for a name and greets.
contract::ToolPtr greeter() {
  return fake_tool("greet", [](const Context& context, const Call&) -> Outcome {
    const auto answer =
        contract::elicit(context, {.message = "Who are you?",
                                   .schema = Json{{"type", "object"},
                                                  {"properties", {{"name", {{"type", "string"}}}}},
                                                  {"required", {"name"}}},
                                   .id = "who"});
    if (!answer) {
      return answer.error();
    }
    return text_result(answer->content ? "Hello, " + (*answer->content)["name"].get<std::string>()
                                       : std::string(contract::to_string(answer->action)));
  });
}

class HttpAsking : public ::testing::Test {
 protected:
  static Json answer(const Json& content) {
    return {{"who", {{"action", "accept"}, {"content", content}}}};
  }
  Json call(Json params, const HttpFixture& http) {
    params["name"] = "greet";
    return http
        .send(HttpFixture::modern(
            modern_body(++id_, "tools/call", std::move(params), {{"elicitation", Json::object()}})))
        .json();
  }
  int id_ = 0;
};

TEST_F(HttpAsking, GoesOnWithTheAnswer) {
  const HttpFixture http({greeter()});
  const Json asked = call({}, http);
  ASSERT_EQ(asked["result"]["resultType"], "input_required") << asked;
  EXPECT_EQ(asked["result"]["inputRequests"]["who"]["method"], "elicitation/create");
  const Json done = call({{"inputResponses", answer({{"name", "Ada"}})},
                          {"requestState", asked["result"]["requestState"]}},
                         http);
  EXPECT_EQ(text_of(done), "Hello, Ada");
}

TEST_F(HttpAsking, AsksAgainForAnswersThatAreNone) {
  const HttpFixture http({greeter()});
  const Json asked = call({}, http);
  const Json again = call({{"inputResponses", answer({{"name", 5}})},
                           {"requestState", asked["result"]["requestState"]}},
                          http);
  ASSERT_EQ(again["result"]["resultType"], "input_required");
  EXPECT_NE(again["result"]["requestState"], asked["result"]["requestState"]);
  const Json done = call({{"inputResponses", answer({{"name", "Ada"}})},
                          {"requestState", again["result"]["requestState"]}},
                         http);
  EXPECT_EQ(text_of(done), "Hello, Ada");
}

TEST_F(HttpAsking, RefusesStatesThatAreAlteredSpentOrAnotherRequests) {
  HttpOptions options;
  options.tokens = alice_and_bob();
  const HttpFixture http({greeter()}, {}, options);
  const auto send = [&](Json params, char who) {
    params["name"] = "greet";
    return http
        .send(HttpFixture::modern(
            modern_body(++id_, "tools/call", std::move(params), {{"elicitation", Json::object()}}),
            {{"Authorization", "Bearer " + std::string(16, who)}}))
        .json();
  };
  const std::string state = send({}, 'a')["result"]["requestState"];
  std::string altered = state;
  altered.back() = altered.back() == '0' ? '1' : '0';
  const auto with = [&](const std::string& given, Json arguments = Json::object()) {
    return Json{{"inputResponses", answer({{"name", "Ada"}})},
                {"requestState", given},
                {"arguments", std::move(arguments)}};
  };
  const auto without_arguments = [&](const std::string& given) {
    Json params = with(given);
    params.erase("arguments");
    return params;
  };
  EXPECT_EQ(send(without_arguments(altered), 'a')["error"]["code"], -32602);
  EXPECT_EQ(send(with(state, {{"other", 1}}), 'a')["error"]["code"], -32602);
  EXPECT_EQ(send(without_arguments(state), 'b')["error"]["code"], -32602) << "another's";
  EXPECT_EQ(text_of(send(without_arguments(state), 'a')), "Hello, Ada");
  EXPECT_EQ(send(without_arguments(state), 'a')["error"]["code"], -32602) << "spent";
}

TEST_F(HttpAsking, StatesExpire) {
  const HttpFixture http({greeter()}, {.ask_timeout = std::chrono::milliseconds(1)});
  const Json asked = call({}, http);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the expiry itself is the subject
  const Json late = call({{"inputResponses", answer({{"name", "Ada"}})},
                          {"requestState", asked["result"]["requestState"]}},
                         http);
  EXPECT_EQ(late["error"]["code"], -32602);
}

TEST_F(HttpAsking, NobodyIsAskedWhoDidNotOffer) {
  const HttpFixture http({greeter()});
  const auto reply =
      http.send(HttpFixture::modern(modern_body(1, "tools/call", {{"name", "greet"}})));
  EXPECT_EQ(text_of(reply.json()), "cancel");
}

}  // namespace
}  // namespace bawn::mcp::test
