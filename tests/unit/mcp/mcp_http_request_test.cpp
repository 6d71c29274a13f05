// The headers and bodies of requests over HTTP, each rule with its status.
#include "fake_tools.hpp"
#include "headers.hpp"
#include "http_client.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace bawn::mcp::test {
namespace {

using contract::Json;

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

// For the names that ctest lists.
void PrintTo(const HeaderRule& one, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << one.name;
}

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
