/// \file
/// What of a server's answers the client uses again, and what ends that.
#include "bawn/mcp/http_client.hpp"
#include "client/answer_cache.hpp"
#include "fake_tools.hpp"
#include "far_server.hpp"
#include "http_client.hpp"
#include "scripted_http.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace bawn::mcp::test {
namespace {

using contract::Context;
using contract::Result;

constexpr std::chrono::hours kDay{24};
constexpr std::uint64_t kHourMs = 3'600'000;

Json for_an_hour(const Json& members) {
  Json result = {{"resultType", "complete"}, {"ttlMs", kHourMs}, {"cacheScope", "public"}};
  result.update(members);
  return result;
}

Json one_tool() {
  return {{"tools", Json::array({entry("a")})}};
}

std::string notification(const std::string& method, const Json& params = Json::object()) {
  return contract::dump_json(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}) +
         "\n";
}

/// A modern server of one tool and one kind of resource that counts what it is asked.
class CountingServer {
 public:
  explicit CountingServer(std::function<std::string(const Json& message)> other = {}) {
    pipes_.script([this, other = std::move(other)](const Json& message) -> std::string {
      const std::string method = message["method"];
      {
        const std::scoped_lock lock(mutex_);
        ++asked_[method];
      }
      if (!message.contains("id")) {
        return {};
      }
      if (std::string reply = other ? other(message) : std::string(); !reply.empty()) {
        return reply;
      }
      if (method == "server/discover") {
        return result(message, for_an_hour({{"supportedVersions", {"2026-07-28"}},
                                            {"capabilities", {{"resources", Json::object()}}}}));
      }
      if (method == "resources/read") {
        const Json uri = message["params"]["uri"];
        return result(message, for_an_hour({{"contents", {{{"uri", uri}, {"text", uri}}}}}));
      }
      if (method == "resources/templates/list") {
        return result(message, for_an_hour({{"resourceTemplates", Json::array()}}));
      }
      return method == "tools/list" ? result(message, for_an_hour(one_tool()))
                                    : result(message, {{"resultType", "complete"}});
    });
  }
  [[nodiscard]] std::shared_ptr<Client> connect(ClientOptions options = {}) const {
    auto client = pipes_.connect(std::move(options));
    EXPECT_TRUE(client) << client.error().message();
    return client.value_or(nullptr);
  }
  int asked(const std::string& method) {
    const std::scoped_lock lock(mutex_);
    return asked_[method];
  }
  /// Lists the tools twice; how often the server was asked.
  int list_twice(ClientOptions options = {}) {
    const auto client = connect(std::move(options));
    EXPECT_TRUE(client->tools(Context()));
    EXPECT_TRUE(client->tools(Context()));
    client->close();
    return asked("tools/list");
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> asked_;  // both before the pipes, whose thread counts
  Pipes pipes_;
};

TEST(KeptAnswers, AListIsUsedAgainWhileItsServerSaysThatItHolds) {  // M-115
  EXPECT_EQ(CountingServer().list_twice(), 1);
  EXPECT_EQ(CountingServer().list_twice({.max_cache_age = std::chrono::milliseconds(0)}), 2);
}

TEST(KeptAnswers, AListWithoutATimeIsAskedForAgain) {
  for (const Json& ttl :
       {Json(0), Json(-1), Json(1.5e9), Json("3600000"), Json(nullptr), Json(true)}) {
    CountingServer server([&](const Json& message) {
      Json value = for_an_hour(one_tool());
      value["ttlMs"] = ttl;
      return message["method"] == "tools/list" ? result(message, value) : std::string();
    });
    EXPECT_EQ(server.list_twice(), 2) << ttl;
  }
  CountingServer none([&](const Json& message) {
    Json value = for_an_hour(one_tool());
    value.erase("ttlMs");
    return message["method"] == "tools/list" ? result(message, value) : std::string();
  });
  EXPECT_EQ(none.list_twice(), 2) << "absent";
}

TEST(KeptAnswers, AnOlderServersListIsAskedForAgainWhateverItSays) {
  CountingServer server([](const Json& message) {
    return message["method"] == "initialize"
               ? result(message, {{"protocolVersion", "2025-11-25"},
                                  {"capabilities", Json::object()},
                                  {"serverInfo", {{"name", "old"}, {"version", "1"}}}})
               : std::string();
  });
  EXPECT_EQ(server.list_twice({.era = EraChoice::Legacy}), 2);
}

TEST(KeptAnswers, OfPagesTheShortestTimeCounts) {
  const auto twice = [](const Json& second_ttl) {
    CountingServer server([&](const Json& message) -> std::string {
      if (message["method"] != "tools/list") {
        return {};
      }
      const bool second = message["params"].contains("cursor");
      Json value = for_an_hour({{"tools", Json::array({entry(second ? "b" : "a")})}});
      if (second) {
        value["ttlMs"] = second_ttl;
      } else {
        value["nextCursor"] = "more";
      }
      return result(message, value);
    });
    return server.list_twice();
  };
  EXPECT_EQ(twice(kHourMs), 2) << "two pages, once";
  EXPECT_EQ(twice(0), 4);
}

TEST(KeptAnswers, WordOfAChangeEndsThem) {
  CountingServer server([](const Json& message) {
    const std::string method = message["method"];
    return method == "x/change"
               ? notification(message["params"]["what"], message["params"].value("about", Json())) +
                     result(message, {{"resultType", "complete"}})
               : std::string();
  });
  const auto client = server.connect();
  ASSERT_TRUE(client);
  const auto features = client->features(Context());
  ASSERT_TRUE(features) << features.error().message();
  const auto use_all = [&] {
    EXPECT_TRUE(client->tools(Context()));
    for (const char* uri : {"note://1", "note://2"}) {
      const auto read = features->resources->read(Context(), uri);
      ASSERT_TRUE(read) << read.error().message();
      EXPECT_EQ((*read)[0].bytes, uri) << "each has its own";
    }
  };
  const auto change = [&](const std::string& what, const Json& about = Json::object()) {
    ASSERT_TRUE(client->request(Context(), "x/change", {{"what", what}, {"about", about}}));
    use_all();
  };
  use_all();
  use_all();
  EXPECT_EQ(server.asked("tools/list"), 1);
  EXPECT_EQ(server.asked("resources/read"), 2);
  change("notifications/prompts/list_changed");
  EXPECT_EQ(server.asked("tools/list"), 1) << "other lists changed";
  change("notifications/tools/list_changed");
  EXPECT_EQ(server.asked("tools/list"), 2);
  EXPECT_EQ(server.asked("resources/read"), 2);
  change("notifications/resources/updated", {{"uri", "note://2"}});
  EXPECT_EQ(server.asked("tools/list"), 2);
  EXPECT_EQ(server.asked("resources/read"), 3) << "the other one holds";
  client->close();
}

TEST(KeptAnswers, AnAnswerThatWasUnderWayWhenItChangedIsNotKept) {
  CountingServer server([](const Json& message) {
    return message["method"] == "tools/list" ? notification("notifications/tools/list_changed") +
                                                   result(message, for_an_hour(one_tool()))
                                             : std::string();
  });
  EXPECT_EQ(server.list_twice(), 2);
}

// Whoever asks again after a refused answer hopes for another one.
TEST(KeptAnswers, AnAnswerThatWasRefusedIsNotUsedAgain) {
  CountingServer server([](const Json& message) {
    const std::string method = message["method"];
    return method == "tools/list"
               ? result(message, for_an_hour({{"tools", Json::array({entry("no name")})}}))
           : method == "resources/list"
               ? result(message, for_an_hour({{"resources", Json::array({Json::object()})}}))
           : method == "resources/read"
               ? result(message, for_an_hour({{"contents", Json::array({Json(5)})}}))
               : std::string();
  });
  const auto client = server.connect();
  ASSERT_TRUE(client);
  const auto features = client->features(Context());
  ASSERT_TRUE(features) << features.error().message();
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(client->tools(Context()));
    EXPECT_FALSE(features->resources->list(Context()));
    EXPECT_FALSE(features->resources->read(Context(), "note://1"));
  }
  for (const char* method : {"tools/list", "resources/list", "resources/read"}) {
    EXPECT_EQ(server.asked(method), 2) << method;
  }
  client->close();
}

TEST(KeptAnswers, ACallThatItsServerDoesNotKnowEndsTheList) {
  CountingServer server([](const Json& message) {
    return message["method"] == "tools/call"
               ? contract::dump_json(Json{{"jsonrpc", "2.0"},
                                          {"id", message["id"]},
                                          {"error", {{"code", -32602}, {"message", "which?"}}}})
               : std::string();
  });
  const auto client = server.connect();
  ASSERT_TRUE(client);
  const auto tools = client->tools(Context());
  ASSERT_TRUE(tools);
  EXPECT_TRUE(run((*tools)[0], "{}").error);
  EXPECT_TRUE(client->tools(Context()));
  EXPECT_EQ(server.asked("tools/list"), 2);
  client->close();
}

// Headers that the server refuses come from a list that no longer holds, whatever its time says.
TEST(KeptAnswers, ACallWithTheHeadersOfAnOldListIsSentWithThoseOfANewOne) {  // M-114
  const auto tool = [](const std::string& header) {
    const Json schema = {{"type", "object"},
                         {"properties", {{"r", {{"type", "string"}, {"x-mcp-header", header}}}}}};
    return std::make_shared<const FakeTool>(
        contract::Definition{.name = "there",
                             .description = "A tool for tests.",
                             .parameters = contract::dump_json(schema)},
        contract::Properties{}, [](const Context&, const contract::Call& call) {
          return contract::Outcome(contract::text_result(call.args));
        });
  };
  HttpFixture http({tool("Old")});
  const auto client =
      connect_http(Context(), "http://127.0.0.1:" + std::to_string(http.port()) + "/mcp");
  ASSERT_TRUE(client);
  const auto tools = (*client)->tools(Context());
  ASSERT_TRUE(tools);
  ASSERT_TRUE(http.server().replace_tools({tool("New")}));
  const auto outcome = run((*tools)[0], R"({"r":"x"})");
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(contract::output_text(outcome.result), R"({"r":"x"})");
}

class ChangingToken final : public Authorization {
 public:
  Result<std::string> token(const Context& /*context*/) override {
    return "token-" + std::to_string(number);
  }
  Result<bool> refused(const Context& /*context*/,
                       const AuthorizationChallenge& /*challenge*/) override {
    return false;
  }
  std::atomic<int> number = 1;
};

TEST(KeptAnswers, AnotherTokenGetsItsOwnPrivateAnswers) {
  for (const std::string scope : {"private", "public", "unheard-of"}) {
    std::atomic<int> lists = 0;
    const ScriptedHttp http([&](const ScriptedRequest& request) -> ScriptedReply {
      const Json message = contract::parse_json(request.body).value();
      ++lists;
      Json value = for_an_hour(one_tool());
      value["cacheScope"] = scope;
      return {.body = result(message, value)};
    });
    const auto authorization = std::make_shared<ChangingToken>();
    const auto client = connect_http(Context(), http.origin(), {.era = EraChoice::Modern},
                                     {.authorization = authorization});
    ASSERT_TRUE(client);
    EXPECT_TRUE((*client)->tools(Context()));
    EXPECT_TRUE((*client)->tools(Context()));
    EXPECT_EQ(lists, 1) << scope;
    ++authorization->number;
    EXPECT_TRUE((*client)->tools(Context()));
    EXPECT_EQ(lists, scope == "public" ? 1 : 2) << scope;
  }
}

TEST(AnswerCache, TimesEnd) {
  AnswerCache cache;
  const Freshness briefly({{"ttlMs", 1}, {"cacheScope", "public"}}, kDay);
  cache.keep({.method = "m"}, 1, briefly, 0, cache.generation());
  std::this_thread::sleep_until(briefly.until());
  EXPECT_EQ(cache.find({.method = "m"}, 0), std::nullopt);
  const Freshness longest({{"ttlMs", std::numeric_limits<std::uint64_t>::max()}}, kDay);
  EXPECT_LE(longest.until(), Freshness::Clock::now() + kDay);
  EXPECT_TRUE(longest.fresh());
}

TEST(AnswerCache, IsBounded) {
  AnswerCache cache;
  const auto held = [&](std::size_t of) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < of; ++i) {
      found += cache.find({.method = "m", .uri = std::to_string(i)}, 0) ? 1U : 0U;
    }
    return found;
  };
  const auto keep = [&](std::size_t number, const std::string& text) {
    const Freshness freshness({{"ttlMs", kHourMs + number}}, kDay);
    cache.keep({.method = "m", .uri = std::to_string(number)}, text, freshness, 0,
               cache.generation());
  };
  constexpr std::size_t kMany = 2 * AnswerCache::kMostAnswers;
  for (std::size_t i = 0; i < kMany; ++i) {
    keep(i, "x");
  }
  EXPECT_EQ(held(kMany), AnswerCache::kMostAnswers);
  EXPECT_TRUE(cache.find({.method = "m", .uri = std::to_string(kMany - 1)}, 0))
      << "those that end first go";
  cache.forget("m");
  EXPECT_EQ(held(kMany), 0U);
  const std::string third(AnswerCache::kMostBytes / 3, 'x');
  for (std::size_t i = 0; i < 5; ++i) {
    keep(i, third);
  }
  EXPECT_EQ(held(5), 2U);
  keep(9, std::string(AnswerCache::kMostBytes, 'x'));
  EXPECT_EQ(held(5), 2U) << "what is too large takes nobody's place";
}

}  // namespace
}  // namespace bawn::mcp::test
