// Who may call over HTTP.
#include "fake_tools.hpp"
#include "http_client.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

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

void write_tokens(const std::string& path, const std::string& text) {
  std::ofstream(path + ".new") << text;
  ASSERT_EQ(::chmod((path + ".new").c_str(), 0600), 0);
  ASSERT_EQ(::rename((path + ".new").c_str(), path.c_str()), 0);
}

TEST(Http, ATokenFileThatChangedIsReadAgainAndNoAccountChangesHands) {
  const bawn::test::TempDir folder;
  const std::string path = folder.path() / "tokens";
  write_tokens(path, "aaaaaaaaaaaaaaaa\nbbbbbbbbbbbbbbbb\n");
  auto file = BearerTokenFile::open(path);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_FALSE(file->changed().value());
  // Without the first line the second one would be token-1, whose sessions are another's.
  write_tokens(path, "bbbbbbbbbbbbbbbb\ncccccccccccccccc\n");
  const auto changed = file->changed().value();
  ASSERT_TRUE(changed);
  EXPECT_EQ(*changed, (std::vector<BearerToken>{{"bbbbbbbbbbbbbbbb", "token-2"},
                                                {"cccccccccccccccc", "token-2-2"}}));
  write_tokens(path, "dddddddddddddddd\naaaaaaaaaaaaaaaa\n");
  EXPECT_EQ(*file->changed().value(), (std::vector<BearerToken>{{"dddddddddddddddd", "token-1-2"},
                                                                {"aaaaaaaaaaaaaaaa", "token-1"}}));
  // A name that the file gives goes to nobody else.
  write_tokens(path, "aaaaaaaaaaaaaaaa\neeeeeeeeeeeeeeee token-1\n");
  EXPECT_EQ(*file->changed().value(), (std::vector<BearerToken>{{"aaaaaaaaaaaaaaaa", "token-1-3"},
                                                                {"eeeeeeeeeeeeeeee", "token-1"}}));
  write_tokens(path, "short\n");
  EXPECT_EQ(file->changed().error().code(), contract::ErrorCode::InvalidArgument);
  EXPECT_FALSE(file->changed().value()) << "said once";
  EXPECT_EQ(file->tokens().size(), 2U);
}

TEST(Http, ATokenThatIsTakenOutIsNoLongerGoodAndItsSessionsEnd) {
  const bawn::test::TempDir folder;
  const std::string path = folder.path() / "tokens";
  write_tokens(path, "aaaaaaaaaaaaaaaa alice\nbbbbbbbbbbbbbbbb bob\n");
  const auto file = std::make_shared<BearerTokenFile>(BearerTokenFile::open(path).value());
  HttpOptions options;
  options.tokens = file->tokens();
  options.changed_tokens = [file] { return file->changed(); };
  const HttpFixture http({whoami()}, {}, options);
  const Headers alice = {{"Authorization", "Bearer aaaaaaaaaaaaaaaa"}};
  const Headers bob = {{"Authorization", "Bearer bbbbbbbbbbbbbbbb"}};
  const Json body = modern_body(1, "tools/call", {{"name", "whoami"}});
  const std::string session =
      http.send(HttpFixture::legacy(legacy_begin(), alice)).headers.at("mcp-session-id");
  EXPECT_EQ(http.send(HttpFixture::modern(body, alice)).status, 200);
  write_tokens(path, "bbbbbbbbbbbbbbbb bob\n");
  EXPECT_EQ(http.send(HttpFixture::modern(body, alice)).status, 401);
  EXPECT_EQ(http.send(HttpFixture::modern(body, bob)).status, 200);
  write_tokens(path, "bbbbbbbbbbbbbbbb bob\naaaaaaaaaaaaaaaa alice\n");
  EXPECT_EQ(http.send(HttpFixture::modern(body, alice)).status, 200);
  const Json ping = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}};
  EXPECT_EQ(http.send(HttpFixture::legacy(ping, {{"Authorization", "Bearer aaaaaaaaaaaaaaaa"},
                                                 {"Mcp-Session-Id", session}}))
                .status,
            404);
  std::filesystem::remove(path);
  EXPECT_EQ(http.send(HttpFixture::modern(body, bob)).status, 200) << "a lost file changes nothing";
}

}  // namespace
}  // namespace bawn::mcp::test
