// Who may call over HTTP.
#include "fake_tools.hpp"
#include "http_client.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>

namespace bawn::mcp::test {
namespace {

using contract::Json;

TEST(Http, HealthIsToldToAnybodyAndNothingElseIs) {
  HttpOptions options;
  options.tokens = {{.token = "0123456789abcdef", .account = "alice"}};
  const HttpFixture http({echo_tool()}, {}, options);
  const auto health = http.send("GET /health HTTP/1.1\r\nHost: 10.1.2.3\r\n\r\n");
  EXPECT_EQ(health.status, 200);
  const auto post = http.send("POST /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(post.status, 401);
}

TEST(Http, TokensSayWhoCallsAndSessionsBelongToThem) {
  HttpOptions options;
  options.tokens = alice_and_bob();
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
  const Json begin = legacy_begin();
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

}  // namespace
}  // namespace bawn::mcp::test
