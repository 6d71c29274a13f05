#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/progress.hpp"
#include "dispatcher.hpp"
#include "fake_tools.hpp"
#include "recording_outlet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bawn::mcp::test {
namespace {

using contract::Json;
using contract::Outcome;
using contract::text_result;
using ::testing::HasSubstr;

constexpr const char* kEnvelope =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() { use({echo_tool()}); }

  void use(std::vector<contract::ToolPtr> tools, ServerOptions options = {}) {
    auto server = Server::create(std::move(options), std::move(tools));
    ASSERT_TRUE(server) << server.error().message();
    core_ = server->core();
    peer_ = std::make_shared<Peer>(contract::Context(), outlet_);
    dispatcher_ = std::make_unique<Dispatcher>(core_, peer_);
  }

  /// Takes one message without running its jobs.
  void accept(std::string_view text) { dispatcher_->accept(text, std::nullopt, outlet_, jobs_); }
  void run_jobs() {
    for (const JobPtr& job : jobs_) {
      job->run();
    }
    jobs_.clear();
  }
  /// Takes one message, runs its jobs and gives the last line sent; null when none was.
  Json answer(std::string_view text) {
    const std::size_t before = outlet_->lines().size();
    accept(text);
    run_jobs();
    const auto lines = outlet_->lines();
    return lines.size() == before ? Json() : lines.back();
  }
  Json legacy(std::string_view method, std::string_view params = "{}") {
    return answer(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":)" +
                  std::string(params) + "}");
  }
  Json modern(std::string_view method, std::string_view members = "") {
    return answer(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) +
                  R"(","params":{)" + std::string(members) + (members.empty() ? "" : ",") +
                  kEnvelope + "}}");
  }
  Json initialize(std::string_view version) {
    return legacy("initialize", R"({"protocolVersion":")" + std::string(version) +
                                    R"(","capabilities":{},"clientInfo":{}})");
  }

  std::shared_ptr<RecordingOutlet> outlet_ = std::make_shared<RecordingOutlet>();
  std::shared_ptr<const Core> core_;
  std::shared_ptr<Peer> peer_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::vector<JobPtr> jobs_;
};

TEST_F(DispatcherTest, ToolsOfASourceAreMadeOnceWhenTheyAreNeeded) {
  int made = 0;
  auto server = Server::create({}, [&]() -> contract::Result<std::vector<contract::ToolPtr>> {
    ++made;
    return std::vector{echo_tool()};
  });
  ASSERT_TRUE(server) << server.error().message();
  core_ = server->core();
  dispatcher_ = std::make_unique<Dispatcher>(core_, peer_);
  initialize("2025-11-25");
  EXPECT_EQ(made, 0);
  EXPECT_EQ(legacy("tools/list")["result"]["tools"].size(), 1U);
  EXPECT_EQ(legacy("tools/call", R"({"name":"echo","arguments":{"text":"x"}})").count("result"),
            1U);
  EXPECT_EQ(made, 1);
}

TEST_F(DispatcherTest, ASourceThatFailsFailsTheRequestsThatNeedItsTools) {
  std::string logged;
  auto server =
      Server::create({.log = [&](std::string_view line) { logged += line; }},
                     []() -> contract::Result<std::vector<contract::ToolPtr>> {
                       return contract::fail(contract::ErrorCode::NotFound, "no such folder");
                     });
  ASSERT_TRUE(server) << server.error().message();
  core_ = server->core();
  dispatcher_ = std::make_unique<Dispatcher>(core_, peer_);
  initialize("2025-11-25");
  EXPECT_EQ(legacy("tools/list")["error"]["code"], -32603);
  EXPECT_EQ(legacy("tools/call", R"({"name":"echo"})")["error"]["code"], -32603);
  EXPECT_THAT(logged, HasSubstr("no such folder"));
}

TEST_F(DispatcherTest, InitializeAgreesOnAKnownRevisionElseOnTheNewestLegacyOne) {
  for (const std::string version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    EXPECT_EQ(initialize(version)["result"]["protocolVersion"], version);
  }
  for (const std::string version : {"2026-07-28", "2099-01-01", "2024-10-07", ""}) {
    EXPECT_EQ(initialize(version)["result"]["protocolVersion"], "2025-11-25") << version;
  }
}

TEST_F(DispatcherTest, InitializeTellsWhoAnswers) {
  use({echo_tool()}, {.name = "bawn", .title = "A shell", .version = "1.2", .instructions = "Do."});
  const Json result = initialize("2025-11-25")["result"];
  EXPECT_EQ(result["serverInfo"],
            (Json{{"name", "bawn"}, {"title", "A shell"}, {"version", "1.2"}}));
  EXPECT_EQ(result["instructions"], "Do.");
  EXPECT_EQ(result["capabilities"], (Json{{"tools", {{"listChanged", false}}}}));
  EXPECT_FALSE(initialize("2024-11-05")["result"]["serverInfo"].contains("title"));
}

TEST_F(DispatcherTest, InitializeChecksItsParameters) {
  for (const auto* const params : {"{}", R"({"protocolVersion":5})",
                                   R"({"protocolVersion":"2025-11-25","capabilities":[]})"}) {
    EXPECT_EQ(legacy("initialize", params)["error"]["code"], -32602) << params;
  }
}

TEST_F(DispatcherTest, DiscoverListsModernRevisionsOnly) {
  const Json result = modern("server/discover")["result"];
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["supportedVersions"], Json::array({"2026-07-28"}));
  EXPECT_EQ(result["cacheScope"], "public");
  EXPECT_EQ(result["ttlMs"], 3'600'000);
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "bawn");
}

// A tool that only hands its arguments on gets none that its own schema refuses.
TEST_F(DispatcherTest, ArgumentsAreCheckedAgainstTheServedSchema) {  // C-51
  int ran = 0;
  const auto serve = [&](const std::string& schema) {
    use({contract::make_raw_tool("raw", "", schema,
                                 [&](const contract::Context&, const contract::Call&) {
                                   ++ran;
                                   return Outcome(text_result("ran"));
                                 })
             .value()});
  };
  const auto text_of = [&](std::string_view arguments) {
    const Json result = legacy(
        "tools/call", R"({"name":"raw","arguments":)" + std::string(arguments) + "}")["result"];
    EXPECT_EQ(result["isError"], result["content"][0]["text"] != "ran");
    return result["content"][0]["text"].get<std::string>();
  };
  const std::string members =
      R"("type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":2}}})";
  for (const char* dialect : {"", R"("$schema":"http://json-schema.org/draft-07/schema#",)"}) {
    serve("{" + std::string(dialect) + members);
    EXPECT_EQ(text_of(R"({"a":[1,2]})"), "ran");
    EXPECT_EQ(text_of("{}"), R"(invalid arguments: missing required property "a")");
    EXPECT_EQ(text_of(R"({"a":[1]})"), "invalid arguments: a: expected at least 2 items, got 1");
  }
  EXPECT_EQ(ran, 2);
  serve(R"({"$schema":"http://json-schema.org/draft-04/schema#",)" + members);
  EXPECT_THAT(text_of("{}"), HasSubstr("unsupported $schema"));
  EXPECT_EQ(ran, 2);
}

TEST_F(DispatcherTest, BothErasWorkSideBySideOnOneConnection) {
  EXPECT_EQ(legacy("server/discover")["error"]["code"], -32601);
  EXPECT_TRUE(modern("server/discover").contains("result"));
  EXPECT_TRUE(initialize("2025-06-18").contains("result"));
  EXPECT_TRUE(modern("tools/list")["result"].contains("resultType"));
  EXPECT_FALSE(legacy("tools/list")["result"].contains("resultType"));
}

TEST_F(DispatcherTest, MethodsOfOneEraAreUnknownInTheOther) {
  for (const auto* const method : {"initialize", "ping", "logging/setLevel", "resources/subscribe",
                                   "prompts/list", "tasks/list"}) {
    EXPECT_EQ(modern(method)["error"]["code"], -32601) << method;
  }
  for (const auto* const method : {"subscriptions/listen", "prompts/list", "resources/list",
                                   "completion/complete", "logging/setLevel", "nonsense", ""}) {
    EXPECT_EQ(legacy(method)["error"]["code"], -32601) << method;
  }
}

TEST_F(DispatcherTest, LoggingIsServedOnlyWhenDeclared) {
  use({echo_tool()}, {.logging = true});
  EXPECT_TRUE(initialize("2025-11-25")["result"]["capabilities"].contains("logging"));
  EXPECT_EQ(legacy("logging/setLevel", R"({"level":"warning"})")["result"], Json::object());
  EXPECT_EQ(legacy("logging/setLevel", R"({"level":"loud"})")["error"]["code"], -32602);
  EXPECT_EQ(legacy("logging/setLevel")["error"]["code"], -32602);
  EXPECT_FALSE(modern("server/discover")["result"]["capabilities"].contains("logging"));
}

TEST_F(DispatcherTest, NotificationsAreNeverAnswered) {
  for (const auto* const method : {"notifications/initialized", "ping", "tools/call", "nonsense",
                                   "initialize", "notifications/cancelled"}) {
    EXPECT_TRUE(answer(R"({"jsonrpc":"2.0","method":")" + std::string(method) + "\"}").is_null());
  }
  EXPECT_TRUE(answer(R"({"jsonrpc":"2.0","id":9,"result":{}})").is_null());
  EXPECT_TRUE(
      answer(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})")
          .is_null());
}

TEST_F(DispatcherTest, CallsCheckTheirParameters) {
  const struct {
    const char* params;
    const char* says;
  } cases[] = {
      {"{}", "name must be a string"},
      {R"({"name":null})", "name must be a string"},
      {R"({"name":5})", "name must be a string"},
      {R"({"name":"echo","arguments":[]})", "arguments must be an object"},
      {R"({"name":"echo","arguments":null})", "arguments must be an object"},
      {R"({"name":"echo","arguments":"{}"})", "arguments must be an object"},
      {R"({"name":"echo","_meta":5})", "_meta must be an object"},
      {R"({"name":"echo","_meta":{"progressToken":1.5}})", "progressToken"},
      {R"({"name":"echo","_meta":{"progressToken":null}})", "progressToken"},
      {R"({"name":"no such"})", "Unknown tool: \"no such\""},
  };
  for (const auto& [params, says] : cases) {
    const Json error = legacy("tools/call", params)["error"];
    EXPECT_EQ(error["code"], -32602) << params;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(says));
  }
}

TEST_F(DispatcherTest, AHostileToolNameIsNeitherFoundNorRepeatedAtLength) {
  const std::string params = R"({"name":")" + std::string(1 << 20, 'a') + "\"}";
  EXPECT_LT(legacy("tools/call", params)["error"]["message"].get<std::string>().size(), 200U);
  EXPECT_EQ(legacy("tools/call", R"({"name":"\u202e\u0000"})")["error"]["message"],
            R"(Unknown tool: "\u202e\x00")");
}

TEST_F(DispatcherTest, AbsentArgumentsAreAnEmptyObject) {
  EXPECT_EQ(legacy("tools/call", R"({"name":"echo"})")["result"]["content"][0]["text"], "{}");
}

TEST_F(DispatcherTest, ListsTakeNoCursorOfOthers) {
  EXPECT_EQ(legacy("tools/list", R"({"cursor":"x"})")["error"]["code"], -32602);
  EXPECT_EQ(legacy("tools/list", R"({"cursor":5})")["error"]["code"], -32602);
}

TEST_F(DispatcherTest, ACancelledRequestDoesNotRunAndIsNotAnswered) {
  int runs = 0;
  use({fake_tool("count", [&](const contract::Context&, const contract::Call&) {
    ++runs;
    return Outcome(text_result("ran"));
  })});
  accept(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"count"}})");
  accept(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})");
  accept(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})");
  run_jobs();
  EXPECT_EQ(runs, 0);
  EXPECT_TRUE(outlet_->lines().empty());
  EXPECT_EQ(outlet_->withdrawals(), 1);
  accept(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"count"}})");
  run_jobs();
  EXPECT_EQ(runs, 1) << "the id is free again";
}

TEST_F(DispatcherTest, CancellationReachesTheToolsContextWithItsReason) {
  std::optional<contract::CancelReason> reason;
  use({fake_tool("self", [&](const contract::Context& context, const contract::Call&) {
    accept(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})");
    reason = context.reason();
    return Outcome(text_result("too late"));
  })});
  accept(R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"self"}})");
  auto jobs = std::move(jobs_);
  jobs_.clear();
  jobs.front()->run();
  EXPECT_EQ(reason, contract::CancelReason::Cancelled);
  EXPECT_TRUE(outlet_->lines().empty());
}

TEST_F(DispatcherTest, AListenStaysOpenAndEndsWithItsResult) {
  const Json ack = modern("subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
  EXPECT_EQ(ack["method"], "notifications/subscriptions/acknowledged");
  EXPECT_EQ(ack["params"]["notifications"], Json::object());
  EXPECT_EQ(ack["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
  EXPECT_TRUE(peer_->is_live(RequestId(std::uint64_t{1})));
  peer_->end_subscriptions();
  const auto lines = outlet_->lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1]["result"]["resultType"], "complete");
  EXPECT_EQ(lines[1]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
  EXPECT_EQ(lines[2]["method"], "notifications/cancelled");
}

TEST_F(DispatcherTest, ACancelledListenIsNotAnswered) {
  modern("subscriptions/listen", R"("notifications":{})");
  accept(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  peer_->end_subscriptions();
  EXPECT_EQ(outlet_->lines().size(), 1U);
  EXPECT_EQ(modern("subscriptions/listen")["error"]["code"], -32602);
}

/// While the acknowledgement is on its way, another thread does something.
class BusyOutlet final : public RecordingOutlet {
 public:
  explicit BusyOutlet(std::function<void()> meanwhile) : meanwhile_(std::move(meanwhile)) {}
  void send(std::string line) override {
    const bool acknowledges = line.find("acknowledged") != std::string::npos;
    RecordingOutlet::send(std::move(line));
    if (acknowledges) {
      other_ = std::async(std::launch::async, meanwhile_);
      // As far as it comes: it may well have to wait for us.
      other_.wait_for(std::chrono::milliseconds(50));
    }
  }
  void wait() { other_.get(); }

 private:
  const std::function<void()> meanwhile_;
  std::future<void> other_;
};

TEST_F(DispatcherTest, NothingIsMissedBehindAnAcknowledgement) {
  core_ = Server::create({.name = "x", .lists_change = true}, {echo_tool()})->core();
  const auto second_line = [&](const std::function<void()>& meanwhile) {
    const auto outlet = std::make_shared<BusyOutlet>(meanwhile);
    peer_ = std::make_shared<Peer>(contract::Context(), outlet);
    Dispatcher dispatcher(core_, peer_);
    dispatcher.accept(
        R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
        std::nullopt, outlet, jobs_);
    outlet->wait();
    const auto lines = outlet->lines();
    return lines.size() > 1 ? lines[1] : Json();
  };
  EXPECT_EQ(second_line([&] { peer_->list_changed(ListKind::Tools); })["method"],
            "notifications/tools/list_changed");
  EXPECT_EQ(second_line([&] { peer_->end_subscriptions(); })["result"]["resultType"], "complete");
}

TEST_F(DispatcherTest, ASubscriptionThatComesBehindTheEndEndsAtOnce) {
  peer_->end_subscriptions();
  modern("subscriptions/listen", R"("notifications":{})");
  const auto lines = outlet_->lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1]["result"]["resultType"], "complete");
  EXPECT_FALSE(peer_->is_live(RequestId(std::uint64_t{1})));
}

TEST_F(DispatcherTest, SubscriptionsOfOneClientAreBounded) {
  const auto listen = [&](int id) {
    accept(
        R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
        R"(,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
    return outlet_->lines().back();
  };
  constexpr int kMost = 64;
  for (int id = 1; id <= kMost; ++id) {
    ASSERT_TRUE(listen(id).contains("method")) << id;
  }
  EXPECT_EQ(listen(kMost + 1)["error"]["code"], -32600);
  accept(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_TRUE(listen(kMost + 1).contains("method")) << "one was cancelled";
}

TEST_F(DispatcherTest, BatchesExistInOneRevisionOnly) {
  const auto* const batch = R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])";
  EXPECT_EQ(answer(batch)["error"]["code"], -32600);
  initialize("2025-06-18");
  EXPECT_EQ(answer(batch)["error"]["code"], -32600);
  initialize("2025-03-26");
  EXPECT_TRUE(answer(batch).is_array());
}

TEST_F(DispatcherTest, ABatchIsAnsweredAsOneArrayOnceAllAreDone) {
  initialize("2025-03-26");
  const std::size_t before = outlet_->lines().size();
  accept(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},
             {"jsonrpc":"2.0","method":"notifications/initialized"},
             {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}},
             {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}},
             {"jsonrpc":"2.0","id":4,"method":"initialize"},
             {"jsonrpc":"2.0","id":5,"method":7}, [], 6])");
  EXPECT_EQ(outlet_->lines().size(), before) << "two calls are still to be done";
  accept(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}})");
  run_jobs();
  const Json all = outlet_->lines().back();
  ASSERT_TRUE(all.is_array());
  EXPECT_EQ(all.size(), 6U) << all;
}

TEST_F(DispatcherTest, ABatchOfNotificationsIsNotAnswered) {
  initialize("2025-03-26");
  EXPECT_TRUE(answer(R"([{"jsonrpc":"2.0","method":"x"}])").is_null());
}

TEST_F(DispatcherTest, ProgressCarriesTheTokenWithItsTypeAndGrows) {
  use({fake_tool("work", [](const contract::Context&, const contract::Call& call) {
    call.on_update(text_result("one"));
    call.on_update(text_result("two"));
    return Outcome(text_result("done"));
  })});
  legacy("tools/call", R"({"name":"work","_meta":{"progressToken":7}})");
  const auto lines = outlet_->lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["params"], (Json{{"progressToken", 7}, {"progress", 1}, {"message", "one"}}));
  EXPECT_EQ(lines[1]["params"]["progress"], 2);
  EXPECT_FALSE(lines[2].contains("method"));
}

TEST_F(DispatcherTest, NoUpdatesWithoutAToken) {
  bool watched = true;
  use({fake_tool("work", [&](const contract::Context&, const contract::Call& call) {
    watched = static_cast<bool>(call.on_update);
    return Outcome(text_result("done"));
  })});
  legacy("tools/call", R"({"name":"work"})");
  EXPECT_FALSE(watched);
}

TEST_F(DispatcherTest, AToolsOwnNumbersAreSentOnlyWhileTheyGrow) {
  use({fake_tool("work", [](const contract::Context& context, const contract::Call&) {
    for (const double done : {0.0, 50.0, 50.0, 20.0, 100.0}) {
      contract::progress(context, done, 100.0);
    }
    return Outcome(text_result("done"));
  })});
  legacy("tools/call", R"({"name":"work","_meta":{"progressToken":"p"}})");
  const auto lines = outlet_->lines();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["params"],
            (Json{{"progressToken", "p"}, {"progress", 0.0}, {"total", 100.0}}));
  EXPECT_EQ(lines[2]["params"]["progress"], 100.0);
}

TEST_F(DispatcherTest, TheOldestRevisionGetsProgressWithoutText) {
  use({fake_tool("work", [](const contract::Context&, const contract::Call& call) {
    call.on_update(text_result("one"));
    return Outcome(text_result("done"));
  })});
  initialize("2024-11-05");
  legacy("tools/call", R"({"name":"work","_meta":{"progressToken":7}})");
  EXPECT_FALSE(outlet_->lines()[1]["params"].contains("message"));
}

TEST_F(DispatcherTest, AnUnavailableToolLooksLikeOneThatDoesNotExist) {
  contract::Properties properties;
  properties.availability = [](const contract::Context&) -> contract::Result<bool> {
    return false;
  };
  use({echo_tool(), fake_tool(
                        "hidden",
                        [](const contract::Context&, const contract::Call&) {
                          return Outcome(text_result("ran"));
                        },
                        properties)});
  EXPECT_EQ(legacy("tools/call", R"({"name":"hidden"})")["error"]["message"],
            "Unknown tool: \"hidden\"");
  const Json listed = modern("tools/list")["result"];
  EXPECT_EQ(listed["tools"].size(), 1U);
  EXPECT_EQ(listed["cacheScope"], "private");
}

TEST_F(DispatcherTest, AToolsPresentationOnACommandLineIsListed) {  // C-220
  contract::Properties properties;
  properties.cli = contract::CliInfo{.group = "g", .operation = "o"};
  use({fake_tool(
      "shown",
      [](const contract::Context&, const contract::Call&) { return Outcome(text_result("ran")); },
      properties)});
  EXPECT_EQ(modern("tools/list")["result"]["tools"][0]["_meta"]["bawn/cli"],
            (Json{{"group", "g"}, {"operation", "o"}}));
}

TEST_F(DispatcherTest, AFunctionOfAToolThatThrowsDoesNotEndTheList) {
  contract::Properties properties;
  properties.confined = [](const contract::Context&, std::string_view) -> contract::Confinement {
    throw std::runtime_error("secret");
  };
  use({fake_tool(
          "bad",
          [](const contract::Context&, const contract::Call&) { return Outcome(text_result("")); },
          properties)},
      {.log = [](std::string_view) {}});
  const Json answer = legacy("tools/list");
  EXPECT_EQ(answer["result"]["tools"][0]["_meta"]["bawn/confinement"]["confined"], false);
  EXPECT_THAT(answer.dump(), ::testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace bawn::mcp::test
