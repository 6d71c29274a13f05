/// \file
/// What no client should send: every field of every request wrong in every way, and sizes, depths
/// and numbers beyond all limits. The right error, and the server goes on in bounded memory.
#include "http_connection.hpp"
#include "mutations.hpp"
#include "server_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <array>
#include <memory>
#include <optional>

namespace bawn::test {
namespace {

using contract::Json;
using ::testing::AnyOf;

// Sanitizers take several times the memory.
constexpr long kBoundKib = 256L << 10;

Json modern(const char* method, Json params = Json::object()) {
  params["_meta"] = {
      {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
      {"io.modelcontextprotocol/clientInfo", {{"name", "host"}, {"version", "1"}}},
      {"io.modelcontextprotocol/clientCapabilities", {{"elicitation", {{"form", Json::object()}}}}},
      {"io.modelcontextprotocol/logLevel", "info"},
      {"progressToken", "p"}};
  return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
}

Json legacy(const char* method, Json params = Json::object()) {
  return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
}

/// One valid message of each method and era. `subscriptions/listen` stays open and is left to the
/// test of its own.
std::vector<Json> valid_requests() {
  const Json marked = {{"name", "test_x_mcp_header"},
                       {"arguments", {{"region", "us-west1"}, {"level", 42}}}};
  const Json asking = {
      {"name", "test_input_required_result_elicitation"},
      {"arguments", Json::object()},
      {"inputResponses", {{"user_name", {{"action", "accept"}, {"content", {{"name", "Ada"}}}}}}},
      {"requestState", "forged"}};
  const Json completing = {
      {"ref", {{"type", "ref/prompt"}, {"name", "test_prompt_with_arguments"}}},
      {"argument", {{"name", "arg1"}, {"value", "par"}}},
      {"context", {{"arguments", {{"arg2", "x"}}}}}};
  const Json prompt = {{"name", "test_prompt_with_arguments"},
                       {"arguments", {{"arg1", "a"}, {"arg2", "b"}}}};
  return {modern("server/discover"),
          modern("tools/list"),
          modern("tools/call", marked),
          modern("tools/call", asking),
          modern("resources/list"),
          modern("resources/templates/list"),
          modern("resources/read", {{"uri", "test://static-text"}}),
          modern("prompts/list"),
          modern("prompts/get", prompt),
          modern("completion/complete", completing),
          legacy("initialize", {{"protocolVersion", "2025-11-25"},
                                {"capabilities", {{"elicitation", Json::object()}}},
                                {"clientInfo", {{"name", "host"}, {"version", "1"}}}}),
          legacy("ping"),
          legacy("logging/setLevel", {{"level", "info"}}),
          legacy("resources/subscribe", {{"uri", "test://watched-resource"}}),
          legacy("resources/unsubscribe", {{"uri", "test://watched-resource"}}),
          legacy("tools/call", marked)};
}

/// The one code that is right, where only one is.
std::optional<int> only_code(const Mutation& mutation) {
  using Kind = Mutation::Kind;
  if (mutation.kind == Kind::Twice) {
    return -32700;
  }
  const bool replaced = mutation.kind == Kind::Replaced;
  if (mutation.pointer == "/jsonrpc" || (mutation.pointer == "/method" && !replaced) ||
      (mutation.pointer == "/method" && !mutation.replacement.is_string())) {
    return -32600;
  }
  if (mutation.pointer == "/id" && replaced && !mutation.replacement.is_string() &&
      !mutation.replacement.is_number_integer()) {
    return -32600;
  }
  if (mutation.pointer == "/params" && replaced && !mutation.replacement.is_object()) {
    return -32602;
  }
  return std::nullopt;
}

/// Whether the message is a request at all.
bool wants_answer(const Mutation& mutation) {
  return !(mutation.pointer == "/id" && mutation.kind == Mutation::Kind::LeftOut);
}

void expect_right(const Json& answer, const Mutation& mutation) {
  if (const auto code = only_code(mutation)) {
    EXPECT_EQ(answer["error"].value("code", 0), *code) << answer.dump();
  } else if (answer.contains("error")) {
    EXPECT_THAT(answer["error"].value("code", 0),
                AnyOf(-32600, -32601, -32602, -32002, -32020, -32021, -32022))
        << answer.dump();
  } else {
    EXPECT_TRUE(answer.contains("result")) << answer.dump();
  }
}

TEST(BadInput, EveryFieldOfEveryRequestWrongOverStdio) {
  ServerProcess server({BAWN_CONFORMANCE_SERVER, "--stdio"});
  for (const Json& request : valid_requests()) {
    for (const Mutation& mutation : mutations_of(request)) {
      SCOPED_TRACE(request["method"].get<std::string>() + ": " + mutation.what);
      server.send(mutation.text);
      if (wants_answer(mutation)) {
        Json answer = server.receive();
        while (answer.contains("method")) {
          answer = server.receive();
        }
        expect_right(answer, mutation);
      }
      ASSERT_EQ(server.call(R"({"jsonrpc":"2.0","id":"p","method":"ping"})")["result"],
                Json::object());
    }
  }
  EXPECT_LT(server.peak_kib(), kBoundKib);
}

/// The headers that fit the valid request.
std::string headers_of(const Json& request) {
  const std::string method = request["method"].get<std::string>();
  const Json& params = request["params"];
  std::string headers;
  if (params.contains("_meta")) {
    headers += "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\n";
    const char* const name = method == "resources/read" ? "uri" : "name";
    if (params.contains(name)) {
      headers += "Mcp-Name: " + params[name].get<std::string>() + "\r\n";
    }
    if (params.value("name", "") == "test_x_mcp_header") {
      headers += "Mcp-Param-Region: us-west1\r\nMcp-Param-Level: 42\r\n";
    }
  } else if (method != "initialize") {
    headers += "MCP-Protocol-Version: 2025-11-25\r\n";
  }
  return headers;
}

std::string post(const std::string& headers, const std::string& body) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Accept: application/json, text/event-stream\r\n" +
         headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class HttpServer {
 public:
  HttpServer() {
    process_.stop_checking();  // the line with its port
    port_ = static_cast<std::uint16_t>(std::stoi(process_.receive_line().value_or("0")));
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  ServerProcess& process() { return process_; }
  [[nodiscard]] bool serves() const {
    HttpConnection connection(port_);
    const Json ping = legacy("ping");
    connection.write(post(headers_of(ping), contract::dump_json(ping)));
    return connection.reply().status == 200;
  }

 private:
  ServerProcess process_{{BAWN_CONFORMANCE_SERVER, "0"}};
  std::uint16_t port_ = 0;
};

TEST(BadInput, EveryFieldOfEveryRequestWrongOverHttp) {
  HttpServer server;
  auto connection = std::make_unique<HttpConnection>(server.port());
  for (const Json& request : valid_requests()) {
    for (const Mutation& mutation : mutations_of(request)) {
      SCOPED_TRACE(request["method"].get<std::string>() + ": " + mutation.what);
      connection->write(post(headers_of(request), mutation.text));
      const HttpReply reply = connection->reply();
      ASSERT_THAT(reply.status, AnyOf(200, 202, 400, 404)) << reply.head;
      if (!wants_answer(mutation)) {
        EXPECT_EQ(reply.status, 202);
      } else {
        const auto messages = reply.messages();
        ASSERT_FALSE(messages.empty()) << reply.head;
        expect_right(contract::parse_json(messages.back()).value(), mutation);
      }
      if (reply.headers.contains("connection")) {
        connection = std::make_unique<HttpConnection>(server.port());
      }
    }
  }
  EXPECT_TRUE(server.serves());
  EXPECT_LT(server.process().peak_kib(), kBoundKib);
}

TEST(BadInput, AListenRequestWrongInEveryWayLeavesTheServerServing) {
  ServerProcess server({BAWN_CONFORMANCE_SERVER, "--stdio"});
  const Json request = modern(
      "subscriptions/listen",
      {{"notifications",
        {{"toolsListChanged", true}, {"resourceSubscriptions", {"test://watched-resource"}}}}});
  for (const Mutation& mutation : mutations_of(request)) {
    SCOPED_TRACE(mutation.what);
    server.send(mutation.text);
    server.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    ASSERT_EQ(server.call(R"({"jsonrpc":"2.0","id":"p","method":"ping"})")["result"],
              Json::object());
  }
}

TEST(BadInput, NotificationsWrongInEveryWayLeaveTheServerServing) {
  ServerProcess server({BAWN_CONFORMANCE_SERVER, "--stdio"});
  for (const Json& notification :
       {Json{{"jsonrpc", "2.0"},
             {"method", "notifications/cancelled"},
             {"params", {{"requestId", 9}, {"reason", "x"}}}},
        Json{{"jsonrpc", "2.0"},
             {"id", "bawn-1"},
             {"result", {{"action", "accept"}, {"content", {{"a", 1}}}}}},
        Json{{"jsonrpc", "2.0"}, {"id", "bawn-1"}, {"error", {{"code", -1}, {"message", "no"}}}}}) {
    for (const Mutation& mutation : mutations_of(notification)) {
      SCOPED_TRACE(mutation.what);
      server.send(mutation.text);
      ASSERT_EQ(server.call(R"({"jsonrpc":"2.0","id":"p","method":"ping"})")["result"],
                Json::object());
    }
  }
}

TEST(BadInput, ResourcesThatOneClientSubscribesToAreBounded) {
  ServerProcess server({BAWN_CONFORMANCE_SERVER, "--stdio"});
  const auto subscribe = [&](int number) {
    Json request = legacy("resources/subscribe", {{"uri", "test://" + std::to_string(number)}});
    request["id"] = number;
    return server.call(contract::dump_json(request));
  };
  constexpr int kMost = 256;
  for (int i = 0; i < kMost; ++i) {
    ASSERT_TRUE(subscribe(i).contains("result")) << i;
  }
  EXPECT_EQ(subscribe(kMost)["error"]["code"], -32602);
  EXPECT_TRUE(subscribe(0).contains("result")) << "one that is there already";
}

TEST(BadInput, ALineOfAGigabyteIsSkippedInBoundedMemory) {
  ServerProcess server({BAWN_CONFORMANCE_SERVER, "--stdio"});
  server.stop_checking();
  const std::string part(1U << 20U, ' ');
  server.write(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":")");
  for (int i = 0; i < 1024; ++i) {
    server.write(part);
  }
  server.write("\"}}\n");
  const Json answer = server.receive();
  EXPECT_EQ(answer["error"]["code"], -32600);
  EXPECT_EQ(answer["id"], 7);
  EXPECT_EQ(server.call(R"({"jsonrpc":"2.0","id":8,"method":"ping"})")["id"], 8);
  EXPECT_LT(server.peak_kib(), kBoundKib);
}

TEST(BadInput, TenThousandLevelsAreRefused) {
  ServerProcess server({BAWN_CONFORMANCE_SERVER, "--stdio"});
  constexpr std::size_t kDepth = 10'000;
  for (const auto& [open, close] : {std::pair<std::string, std::string>("[", "]"),
                                    std::pair<std::string, std::string>(R"({"a":)", "}")}) {
    std::string deep;
    for (std::size_t i = 0; i < kDepth; ++i) {
      deep += open;
    }
    deep += "0";
    for (std::size_t i = 0; i < kDepth; ++i) {
      deep += close;
    }
    server.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":)" + deep +
                "}}");
    EXPECT_EQ(server.receive()["error"]["code"], -32700);
    EXPECT_EQ(server.call(R"({"jsonrpc":"2.0","id":2,"method":"ping"})")["id"], 2);
  }
}

TEST(BadInput, AThousandHttpClientsOfWhichAHundredStallTakeBoundedMemory) {
  HttpServer server;
  constexpr std::size_t kStalled = 100;
  constexpr std::size_t kWorking = 900;
  std::vector<std::unique_ptr<HttpConnection>> stalled;
  for (std::size_t i = 0; i < kStalled; ++i) {
    stalled.push_back(std::make_unique<HttpConnection>(server.port()));
    // A third in the headers, a third in the body, a third before a byte.
    const std::string request = post("", std::string(1000, ' '));
    stalled.back()->write(std::string_view(request).substr(0, i % 3 * (request.size() / 3)));
  }
  const Json ping = legacy("ping");
  const std::string request = post(headers_of(ping), contract::dump_json(ping));
  std::vector<std::unique_ptr<HttpConnection>> working;
  for (std::size_t i = 0; i < kWorking; ++i) {
    working.push_back(std::make_unique<HttpConnection>(server.port()));
    working.back()->write(request);
  }
  for (const auto& connection : working) {
    ASSERT_EQ(connection->reply().status, 200);
  }
  EXPECT_LT(server.process().peak_kib(), kBoundKib);
}

TEST(BadInput, BodiesAndHeadersBeyondTheLimitsAreRefusedWithoutReadingThemWhole) {
  HttpServer server;
  const std::string head =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const std::array<std::pair<std::string, int>, 6> kCases = {{
      {head + "Content-Length: 1073741824\r\n\r\n{", 413},
      {head + "Content-Length: 99999999999999999999999\r\n\r\n", 400},
      {head + "Content-Length: -1\r\n\r\n", 400},
      {head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
      {head + "X: " + std::string(70'000, 'x') + "\r\n\r\n", 431},
      {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
  }};
  for (const auto& [request, status] : kCases) {
    HttpConnection connection(server.port());
    connection.write(request);
    EXPECT_EQ(connection.reply().status, status) << request.substr(0, 200);
  }
  EXPECT_TRUE(server.serves());
  EXPECT_LT(server.process().peak_kib(), kBoundKib);
}

}  // namespace
}  // namespace bawn::test
