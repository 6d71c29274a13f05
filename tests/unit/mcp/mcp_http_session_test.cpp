// Older clients' sessions over HTTP.
#include "fake_tools.hpp"
#include "http_client.hpp"

#include <gtest/gtest.h>

namespace bawn::mcp::test {
namespace {

using contract::Json;

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
  const Json begin = legacy_begin();
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

TEST(Http, OpeningManySessionsEndsNobodyElses) {
  HttpOptions options;
  options.max_sessions = 4;
  options.tokens = alice_and_bob();
  const HttpFixture http({echo_tool()}, {}, options);
  const Json begin = legacy_begin();
  const auto token = [](char who) { return "Bearer " + std::string(16, who); };
  const auto opened = [&](char who) {
    return http.send(HttpFixture::legacy(begin, {{"Authorization", token(who)}}))
        .headers["mcp-session-id"];
  };
  const std::string alices = opened('a');
  const std::string bobs = opened('b');
  for (int i = 0; i < 20; ++i) {
    EXPECT_NE(opened('b'), "");
  }
  const Json ping = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}};
  const auto status = [&](char who, const std::string& id) {
    return http
        .send(HttpFixture::legacy(ping, {{"Authorization", token(who)}, {"Mcp-Session-Id", id}}))
        .status;
  };
  EXPECT_EQ(status('a', alices), 200);
  EXPECT_EQ(status('b', bobs), 404) << "the control: the limit took effect";
}

TEST(Http, ASessionThatIsInUseIsNotEndedForAnother) {
  Hanging hanging;
  HttpOptions options;
  options.max_sessions = 1;
  const HttpFixture http({hanging.tool()}, {}, options);
  const Json begin = legacy_begin();
  const std::string id = http.send(HttpFixture::legacy(begin)).headers["mcp-session-id"];
  HttpConnection calling(http.port());
  calling.write(HttpFixture::legacy(
      {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", {{"name", "hang"}}}},
      {{"Mcp-Session-Id", id}}));
  hanging.wait_until_begun();
  EXPECT_EQ(http.send(HttpFixture::legacy(begin)).status, 503);
}

}  // namespace
}  // namespace bawn::mcp::test
