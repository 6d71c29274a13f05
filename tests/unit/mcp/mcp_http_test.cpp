#include "bawn/contract/call_context.hpp"
#include "bawn/contract/elicitation.hpp"
#include "bawn/mcp/http.hpp"
#include "fake_tools.hpp"
#include "headers.hpp"
#include "http_client.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <thread>

namespace bawn::mcp::test {
namespace {

using contract::Call;
using contract::Context;
using contract::Json;
using contract::Outcome;
using contract::text_result;
using ::testing::HasSubstr;

std::string text_of(const Json& answer) {
  return answer["result"]["content"][0]["text"].get<std::string>();
}

/// Says who calls and in which session.
contract::ToolPtr whoami() {
  return fake_tool("whoami", [](const Context& context, const Call&) -> Outcome {
    const auto* const session = contract::session_from(context);
    const auto* const caller = contract::caller_from(context);
    return text_result((caller ? caller->account : "nobody") + "/" +
                       (session ? *session : "no session"));
  });
}

/// Waits for its cancellation, and tells it.
struct Waiter {
  std::promise<void> started;
  std::promise<void> cancelled;
  contract::ToolPtr tool =
      fake_tool("hang", [this](const Context& context, const Call&) -> Outcome {
        started.set_value();
        std::mutex mutex;
        std::condition_variable_any never;
        std::unique_lock lock(mutex);
        never.wait_for(lock, context.stop_token(), std::chrono::minutes(2), [] { return false; });
        cancelled.set_value();
        return text_result("cancelled");
      });
  [[nodiscard]] static bool within_time(std::promise<void>& promise) {
    return promise.get_future().wait_for(std::chrono::minutes(1)) == std::future_status::ready;
  }
};

TEST(Http, AnswersAModernCallAsJson) {
  const HttpFixture http({echo_tool()});
  const auto reply = http.send(HttpFixture::modern(
      modern_body(7, "tools/call", {{"name", "echo"}, {"arguments", {{"a", 1}}}})));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("content-type"), "application/json");
  EXPECT_EQ(text_of(reply.json()), R"({"a":1})");
}

TEST(Http, KeepsTheConnectionForFurtherRequests) {
  const HttpFixture http({echo_tool()});
  HttpConnection connection(http.port());
  for (int id = 1; id <= 3; ++id) {
    connection.write(HttpFixture::modern(modern_body(id, "server/discover")));
    EXPECT_EQ(connection.reply().json()["id"], id);
  }
}

struct HeaderRule {
  const char* name;
  Headers changes;
  int status;
  int code;
};

class HttpHeaderRules : public ::testing::TestWithParam<HeaderRule> {};

TEST_P(HttpHeaderRules, AreKept) {
  const HttpFixture http({echo_tool()});
  const Json body = modern_body(1, "tools/call", {{"name", "echo"}});
  ASSERT_EQ(http.send(HttpFixture::modern(body)).status, 200) << "without the change it is fine";
  const auto reply = http.send(HttpFixture::modern(body, GetParam().changes));
  EXPECT_EQ(reply.status, GetParam().status) << reply.body;
  EXPECT_EQ(reply.json()["error"]["code"], GetParam().code) << reply.body;
}

INSTANTIATE_TEST_SUITE_P(
    All, HttpHeaderRules,
    ::testing::Values(
        HeaderRule{"OtherMethod", {{"Mcp-Method", "tools/list"}}, 400, -32020},
        HeaderRule{"NoMethod", {{"Mcp-Method", ""}}, 400, -32020},
        HeaderRule{"OtherName", {{"Mcp-Name", "Echo"}}, 400, -32020},
        HeaderRule{"NoName", {{"Mcp-Name", ""}}, 400, -32020},
        HeaderRule{"BrokenName", {{"Mcp-Name", "=?base64?ZWNob?="}}, 400, -32020},
        HeaderRule{"OtherVersion", {{"MCP-Protocol-Version", "2025-11-25"}}, 400, -32020},
        HeaderRule{"NoVersion", {{"MCP-Protocol-Version", ""}}, 400, -32020},
        HeaderRule{"ForeignHost", {{"Host", "evil.example.com"}}, 403, -32600},
        HeaderRule{"NoHost", {{"Host", ""}}, 403, -32600},
        HeaderRule{"HostWithAppendix", {{"Host", "localhost.evil.example"}}, 403, -32600},
        HeaderRule{"ForeignOrigin", {{"Origin", "http://evil.example.com"}}, 403, -32600},
        HeaderRule{"NullOrigin", {{"Origin", "null"}}, 403, -32600},
        HeaderRule{"OtherType", {{"Content-Type", "text/plain"}}, 415, -32600},
        HeaderRule{"NothingAcceptable", {{"Accept", "image/png"}}, 406, -32600}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(Http, TakesEncodedNamesAndLocalOrigins) {
  const HttpFixture http({echo_tool()});
  const Json body = modern_body(1, "tools/call", {{"name", "echo"}});
  EXPECT_EQ(http.send(HttpFixture::modern(body, {{"Mcp-Name", "=?base64?ZWNobw==?="}})).status,
            200);
  EXPECT_EQ(http.send(HttpFixture::modern(body, {{"Origin", "http://localhost:3000"}})).status,
            200);
}

TEST(Http, UnknownMethodsAreNotFoundInTheModernEraOnly) {
  const HttpFixture http({echo_tool()});
  EXPECT_EQ(http.send(HttpFixture::modern(modern_body(1, "ping"))).status, 404);
  const Json old = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "server/discover"}};
  const auto reply = http.send(HttpFixture::legacy(old));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.json()["error"]["code"], -32601);
}

TEST(Http, NotificationsAreAccepted) {
  const HttpFixture http({echo_tool()});
  const Json body = {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}};
  const auto reply = http.send(HttpFixture::legacy(body));
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(reply.body, "");
}

TEST(Http, BrokenJsonIsAParseError) {
  const HttpFixture http({echo_tool()});
  std::string request = HttpFixture::legacy(Json("xx"));
  request.replace(request.rfind("\"xx\""), 4, "{\"a\"");
  const auto reply = http.send(request);
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.json()["error"]["code"], -32700);
}

TEST(Http, LargeBodiesAndHeadersAreRefused) {
  HttpOptions options;
  options.max_body_bytes = 1000;
  options.max_header_bytes = 2000;
  const HttpFixture http({echo_tool()}, {}, options);
  const Json big = modern_body(1, "tools/call", {{"name", std::string(2000, 'x')}});
  EXPECT_EQ(http.send(HttpFixture::modern(big, {{"Mcp-Name", "x"}})).status, 413);
  const Json small = modern_body(1, "server/discover");
  EXPECT_EQ(http.send(HttpFixture::modern(small, {{"X-Long", std::string(4000, 'x')}})).status,
            431);
  EXPECT_EQ(http.send(HttpFixture::modern(small)).status, 200);
}

TEST(Http, HealthIsToldToAnybodyAndNothingElseIs) {
  HttpOptions options;
  options.tokens = {{.token = "0123456789abcdef", .account = "alice"}};
  const HttpFixture http({echo_tool()}, {}, options);
  const auto health = http.send("GET /health HTTP/1.1\r\nHost: 10.1.2.3\r\n\r\n");
  EXPECT_EQ(health.status, 200);
  const auto post = http.send("POST /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(post.status, 401);
}

TEST(Http, GetAndDeleteNeedASession) {
  const HttpFixture http({echo_tool()});
  for (const std::string method : {"GET", "DELETE", "PUT"}) {
    const auto reply = http.send(method + " /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_EQ(reply.headers.at("allow"), "POST");
  }
  EXPECT_EQ(http.send("POST /other HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 404);
}

TEST(Http, ALegacySessionBeginsAndEnds) {
  const HttpFixture http({whoami()});
  const Json begin = {{"jsonrpc", "2.0"},
                      {"id", 0},
                      {"method", "initialize"},
                      {"params",
                       {{"protocolVersion", "2025-11-25"},
                        {"capabilities", Json::object()},
                        {"clientInfo", {{"name", "t"}, {"version", "1"}}}}}};
  const auto first = http.send(HttpFixture::legacy(begin));
  const auto second = http.send(HttpFixture::legacy(begin));
  ASSERT_EQ(first.status, 200) << first.body;
  const std::string id = first.headers.at("mcp-session-id");
  EXPECT_NE(id, second.headers.at("mcp-session-id"));
  const Json call = {
      {"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", {{"name", "whoami"}}}};
  EXPECT_EQ(text_of(http.send(HttpFixture::legacy(call, {{"Mcp-Session-Id", id}})).json()),
            "anonymous/" + id);
  EXPECT_EQ(http.send(HttpFixture::legacy(call, {{"Mcp-Session-Id", "0123"}})).status, 404);
  EXPECT_EQ(
      http.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: " + id + "\r\n\r\n")
          .status,
      204);
  EXPECT_EQ(http.send(HttpFixture::legacy(call, {{"Mcp-Session-Id", id}})).status, 404);
}

TEST(Http, TokensSayWhoCallsAndSessionsBelongToThem) {
  HttpOptions options;
  options.tokens = {{.token = "aaaaaaaaaaaaaaaa", .account = "alice"},
                    {.token = "bbbbbbbbbbbbbbbb", .account = "bob"}};
  const HttpFixture http({whoami()}, {}, options);
  const Json body = modern_body(1, "tools/call", {{"name", "whoami"}});
  const auto none = http.send(HttpFixture::modern(body));
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(none.headers.at("www-authenticate"), "Bearer");
  EXPECT_EQ(
      http.send(HttpFixture::modern(body, {{"Authorization", "Bearer aaaaaaaaaaaaaaab"}})).status,
      401);
  EXPECT_EQ(
      http.send(HttpFixture::modern(body, {{"Authorization", "Basic aaaaaaaaaaaaaaaa"}})).status,
      401);
  EXPECT_EQ(
      text_of(http.send(HttpFixture::modern(body, {{"Authorization", "Bearer bbbbbbbbbbbbbbbb"}}))
                  .json()),
      "bob/no session");
  const Json begin = {
      {"jsonrpc", "2.0"},
      {"id", 0},
      {"method", "initialize"},
      {"params", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}}}};
  const auto session =
      http.send(HttpFixture::legacy(begin, {{"Authorization", "Bearer aaaaaaaaaaaaaaaa"}}))
          .headers.at("mcp-session-id");
  const Json ping = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}};
  EXPECT_EQ(http.send(HttpFixture::legacy(ping, {{"Authorization", "Bearer bbbbbbbbbbbbbbbb"},
                                                 {"Mcp-Session-Id", session}}))
                .status,
            404);
  EXPECT_EQ(http.send(HttpFixture::legacy(ping, {{"Authorization", "Bearer aaaaaaaaaaaaaaaa"},
                                                 {"Mcp-Session-Id", session}}))
                .status,
            200);
}

TEST(Http, AnOpenAddressNeedsTokens) {
  const Server server = Server::create({}, {echo_tool()}).value();
  HttpOptions options;
  options.handle_signals = false;
  options.address = "0.0.0.0";
  const auto end = serve_http(server, options);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), contract::ErrorCode::InvalidArgument);
}

TEST(Http, OpeningManySessionsEndsNobodyElses) {
  HttpOptions options;
  options.max_sessions = 4;
  options.tokens = {{.token = "aaaaaaaaaaaaaaaa", .account = "alice"},
                    {.token = "bbbbbbbbbbbbbbbb", .account = "bob"}};
  const HttpFixture http({echo_tool()}, {}, options);
  const Json begin = {
      {"jsonrpc", "2.0"},
      {"id", 0},
      {"method", "initialize"},
      {"params", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}}}};
  const auto token = [](char who) { return "Bearer " + std::string(16, who); };
  const auto opened = [&](char who) {
    return http.send(HttpFixture::legacy(begin, {{"Authorization", token(who)}}))
        .headers["mcp-session-id"];
  };
  const std::string alices = opened('a');
  for (int i = 0; i < 20; ++i) {
    EXPECT_NE(opened('b'), "");
  }
  const Json ping = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}};
  EXPECT_EQ(http.send(HttpFixture::legacy(
                          ping, {{"Authorization", token('a')}, {"Mcp-Session-Id", alices}}))
                .status,
            200);
}

TEST(Http, ASessionThatIsInUseIsNotEndedForAnother) {
  Waiter waiter;
  HttpOptions options;
  options.max_sessions = 1;
  const HttpFixture http({waiter.tool}, {}, options);
  const Json begin = {
      {"jsonrpc", "2.0"},
      {"id", 0},
      {"method", "initialize"},
      {"params", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}}}};
  const std::string id = http.send(HttpFixture::legacy(begin)).headers["mcp-session-id"];
  HttpConnection calling(http.port());
  calling.write(HttpFixture::legacy(
      {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", {{"name", "hang"}}}},
      {{"Mcp-Session-Id", id}}));
  ASSERT_TRUE(Waiter::within_time(waiter.started));
  EXPECT_EQ(http.send(HttpFixture::legacy(begin)).status, 503);
}

TEST(HttpOnAPath, ServesThisUsersProgramsAndLeavesNothing) {
  const bawn::test::TempDir folder;
  HttpOptions options;
  options.unix_path = folder.path() / "socket";
  {
    const HttpFixture http({echo_tool()}, {}, options);
    struct stat made{};
    ASSERT_EQ(::lstat(options.unix_path.c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777U, 0600U);
    const auto send = [&](const Headers& headers) {
      HttpConnection connection(options.unix_path);
      connection.write(HttpFixture::modern(modern_body(1, "server/discover"), headers));
      return connection.reply();
    };
    EXPECT_EQ(send({{"Host", "whatever"}}).status, 200);
    EXPECT_EQ(send({{"Host", ""}}).status, 200);
    EXPECT_EQ(send({{"Origin", "http://localhost"}}).status, 403);
  }
  EXPECT_FALSE(std::filesystem::exists(options.unix_path));
}

TEST(HttpOnAPath, ADeadServersSocketIsReplacedAndALivingOnesIsNot) {
  const bawn::test::TempDir folder;
  HttpOptions options;
  options.unix_path = folder.path() / "socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options.unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(dead);
  const HttpFixture http({echo_tool()}, {}, options);
  const auto second = serve_http(Server::create({}, {echo_tool()}).value(), options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().errnum(), EADDRINUSE);
  HttpConnection connection(options.unix_path);
  connection.write(HttpFixture::modern(modern_body(1, "server/discover")));
  EXPECT_EQ(connection.reply().status, 200) << "the first one still serves";
}

TEST(HttpOnAPath, OtherFilesAndLongPathsAreRefused) {
  const bawn::test::TempDir folder;
  HttpOptions options;
  options.unix_path = folder.write("file", "mine");
  const Server server = Server::create({}, {echo_tool()}).value();
  EXPECT_EQ(serve_http(server, options).error().errnum(), EADDRINUSE);
  EXPECT_EQ(bawn::test::read_file(options.unix_path), "mine");
  options.unix_path = "/" + std::string(200, 'x');
  EXPECT_EQ(serve_http(server, options).error().code(), contract::ErrorCode::InvalidArgument);
}

TEST(Http, TokenFilesMustBePrivate) {
  const bawn::test::TempDir folder;
  const std::string path = folder.path() / "tokens";
  std::ofstream(path) << "# who may\n0123456789abcdef  alice \n\nfedcba9876543210\n";
  ::chmod(path.c_str(), 0600);
  const auto tokens = read_bearer_tokens(path);
  ASSERT_TRUE(tokens) << tokens.error().message();
  ASSERT_EQ(tokens->size(), 2U);
  EXPECT_EQ((*tokens)[0].account, "alice");
  EXPECT_EQ((*tokens)[1].account, "token-4");
  ::chmod(path.c_str(), 0640);
  // A cluster hands root's secret to an ordinary user by its group.
  EXPECT_EQ(read_bearer_tokens(path).has_value(), ::geteuid() == 0);
  ::chmod(path.c_str(), 0604);
  EXPECT_EQ(read_bearer_tokens(path).error().code(), contract::ErrorCode::PermissionDenied);
  ::chmod(path.c_str(), 0600);
  std::ofstream(path) << "short\n";
  EXPECT_EQ(read_bearer_tokens(path).error().code(), contract::ErrorCode::InvalidArgument);
}

TEST(Http, ClosingTheConnectionCancelsAModernCall) {
  Waiter waiter;
  const HttpFixture http({waiter.tool});
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(modern_body(1, "tools/call", {{"name", "hang"}})));
  ASSERT_TRUE(Waiter::within_time(waiter.started));
  connection.close();
  EXPECT_TRUE(Waiter::within_time(waiter.cancelled));
}

TEST(Http, TheEndOfTheServerCancelsWhatDoesNotEnd) {
  Waiter waiter;
  HttpOptions options;
  options.stop_grace = std::chrono::milliseconds(50);
  HttpFixture http({waiter.tool}, {}, options);
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(modern_body(1, "tools/call", {{"name", "hang"}})));
  ASSERT_TRUE(Waiter::within_time(waiter.started));
  EXPECT_EQ(http.stop().abandoned_calls, 0U);
  EXPECT_EQ(text_of(connection.reply().json()), "cancelled") << "its answer still comes";
}

TEST(Http, ALongAnswerBecomesAStreamWithComments) {
  HttpOptions options;
  options.stream_after = std::chrono::milliseconds(1);
  options.keep_alive = std::chrono::milliseconds(10);
  std::promise<void> go;
  const auto tool = fake_tool("slow", [&](const Context&, const Call&) -> Outcome {
    go.get_future().wait();
    return text_result("late");
  });
  const HttpFixture http({tool}, {}, options);
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(modern_body(1, "tools/call", {{"name", "slow"}})));
  EXPECT_TRUE(connection.read_until("text/event-stream"));
  EXPECT_TRUE(connection.read_until(":\n\n"));
  go.set_value();
  EXPECT_TRUE(connection.read_until("event: message\ndata: {"));
  EXPECT_TRUE(connection.read_until("late"));
  EXPECT_TRUE(connection.read_until("0\r\n\r\n"));
}

TEST(Http, ASubscriptionIsToldOfChangesAndEndsWithTheServer) {
  HttpOptions options;
  options.flush_grace = std::chrono::minutes(1);
  HttpFixture http({echo_tool()}, {.lists_change = true}, options);
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(
      modern_body(5, "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}})));
  ASSERT_TRUE(connection.read_until("notifications/subscriptions/acknowledged"));
  http.server().list_changed(ListKind::Prompts);
  http.server().list_changed(ListKind::Tools);
  ASSERT_TRUE(connection.read_until("notifications/tools/list_changed"));
  EXPECT_EQ(connection.seen().find("notifications/prompts"), std::string::npos);
  http.stop();
  EXPECT_TRUE(connection.read_until(R"("resultType":"complete")"));
}

TEST(Http, AMessageThatComesWhileAnotherIsWrittenIsNotSleptOver) {
  // The acknowledgement is being written while the change comes.
  HttpOptions options;
  options.keep_alive = std::chrono::minutes(10);  // its comment would wake a sleeper
  HttpFixture http({echo_tool()}, {.lists_change = true}, options);
  for (int id = 1; id <= 200; ++id) {
    HttpConnection connection(http.port());
    connection.write(HttpFixture::modern(modern_body(
        id, "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}})));
    ASSERT_TRUE(connection.read_until("200 OK"));
    http.server().list_changed(ListKind::Tools);
    ASSERT_TRUE(connection.read_until("notifications/tools/list_changed")) << id;
  }
}

TEST(Http, TheEndOfTheServerWritesWhatIsQueuedOnASessionsStream) {
  HttpOptions options;
  options.flush_grace = std::chrono::minutes(1);
  HttpFixture http({echo_tool()}, {.lists_change = true}, options);
  const Json begin = {
      {"jsonrpc", "2.0"},
      {"id", 0},
      {"method", "initialize"},
      {"params", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}}}};
  const std::string id = http.send(HttpFixture::legacy(begin)).headers.at("mcp-session-id");
  HttpConnection stream(http.port());
  stream.write("GET /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: " + id +
               "\r\nAccept: text/event-stream\r\n\r\n");
  ASSERT_TRUE(stream.read_until("200 OK"));
  http.server().list_changed(ListKind::Tools);
  http.stop();
  EXPECT_TRUE(stream.read_until("notifications/tools/list_changed"));
  EXPECT_TRUE(stream.read_until("0\r\n\r\n")) << "and the stream ends in order";
}

TEST(Http, SlowHeadersAreCutOff) {
  HttpOptions options;
  options.header_timeout = std::chrono::milliseconds(50);
  const HttpFixture http({echo_tool()}, {}, options);
  HttpConnection connection(http.port());
  connection.write("POST /mcp HTTP/1.1\r\nHost: loc");
  EXPECT_TRUE(connection.is_closed());
  EXPECT_EQ(http.send(HttpFixture::modern(modern_body(1, "server/discover"))).status, 200);
}

TEST(Http, AThousandClientsOfWhichAHundredStall) {
  const HttpFixture http({echo_tool()});
  std::vector<std::unique_ptr<HttpConnection>> stalled;
  for (int i = 0; i < 100; ++i) {
    stalled.push_back(std::make_unique<HttpConnection>(http.port()));
    stalled.back()->write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le");
  }
  std::vector<std::unique_ptr<HttpConnection>> working;
  for (int i = 0; i < 900; ++i) {
    working.push_back(std::make_unique<HttpConnection>(http.port()));
    working.back()->write(HttpFixture::modern(modern_body(i, "server/discover")));
  }
  for (int i = 0; i < 900; ++i) {
    ASSERT_EQ(working[static_cast<std::size_t>(i)]->reply().json()["id"], i);
  }
}

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
  options.tokens = {{.token = "aaaaaaaaaaaaaaaa", .account = "alice"},
                    {.token = "bbbbbbbbbbbbbbbb", .account = "bob"}};
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
  std::this_thread::yield();
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  while (std::chrono::steady_clock::now() < until) {
  }
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

TEST(HeaderValues, AreEncodedWhereTheyCouldNotTravel) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"us-west1", "us-west1"},
      {"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
      {" padded ", "=?base64?IHBhZGRlZCA=?="},
      {"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
      {"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}};
  for (const auto& [value, header] : cases) {
    EXPECT_EQ(encode_header(value), header);
    EXPECT_EQ(decode_header(header), value);
  }
  EXPECT_EQ(decode_header("=?base64?_w==?="), std::nullopt);
  EXPECT_EQ(decode_header("=?base64?/w==?="), std::nullopt) << "no UTF-8";
}

}  // namespace
}  // namespace bawn::mcp::test
