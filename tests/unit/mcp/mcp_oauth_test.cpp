#include "bawn/contract/json.hpp"
#include "bawn/mcp/oauth.hpp"
#include "scripted_http.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace bawn::mcp::test {
namespace {

using contract::Context;
using contract::ErrorCode;
using contract::Json;
using ::testing::HasSubstr;

std::string dump(const Json& json) {
  return contract::dump_json(json);
}

/// An authorization server beside the resource that it is for.
class AuthorizationServer {
 public:
  [[nodiscard]] std::string endpoint() const { return http_.origin() + "/mcp"; }
  [[nodiscard]] contract::Result<std::shared_ptr<Authorization>> client(OAuthOptions options = {}) {
    options.fetch = [this](const Context&, const std::string& url) {
      return contract::Result<AuthorizationReturn>(visited(url));
    };
    options.store = options.store == nullptr ? store : options.store;
    options.on_save_error = [this](const contract::Error& error) {
      save_errors.push_back(error.message());
    };
    options.client_id = "known";
    return oauth(endpoint(), std::move(options));
  }

  std::shared_ptr<TokenStore> store = std::make_shared<MemoryTokenStore>();
  std::vector<std::string> save_errors;
  std::vector<std::string> pages;
  std::vector<std::string> forms;
  bool wrong_state = false;
  bool offers_pkce = true;
  bool refuses_refresh = false;

 private:
  AuthorizationReturn visited(const std::string& url) {
    pages.push_back(url);
    const auto state = url.find("&state=") + 7;
    return {.code = "the-code",
            .state = wrong_state ? "other" : url.substr(state, url.find('&', state) - state)};
  }
  ScriptedReply answer(const ScriptedRequest& request) {
    if (request.target.starts_with("/.well-known/oauth-protected-resource")) {
      return {.body =
                  dump({{"resource", endpoint()}, {"authorization_servers", {http_.origin()}}})};
    }
    if (request.target == "/.well-known/oauth-authorization-server") {
      Json document = {{"issuer", http_.origin()},
                       {"authorization_endpoint", http_.origin() + "/authorize"},
                       {"token_endpoint", http_.origin() + "/token"}};
      if (offers_pkce) {
        document["code_challenge_methods_supported"] = {"S256"};
      }
      return {.body = dump(document)};
    }
    if (request.target == "/token" && request.method == "POST") {
      forms.push_back(request.body);
      const bool refresh = request.body.find("refresh_token=") != std::string::npos;
      if (refresh && refuses_refresh) {
        return {.status = 400, .body = R"({"error":"invalid_grant"})"};
      }
      return {.body = dump({{"access_token", "token-" + std::to_string(forms.size())},
                            {"refresh_token", "renew-" + std::to_string(forms.size())},
                            {"expires_in", 3600}})};
    }
    return {.status = 404};
  }
  const ScriptedHttp http_{[this](const ScriptedRequest& request) { return answer(request); }};
};

TEST(OAuth, BeginsTheFlowAndKeepsTheToken) {
  AuthorizationServer server;
  const auto client = server.client();
  ASSERT_TRUE(client) << client.error().message();
  EXPECT_EQ((*client)->token(Context()), "");
  const auto again = (*client)->refused(Context(), {.status = 401, .scope = "read"});
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(*again);
  EXPECT_EQ((*client)->token(Context()), "token-1");
  ASSERT_EQ(server.pages.size(), 1U);
  EXPECT_THAT(server.pages[0], HasSubstr("code_challenge_method=S256"));
  EXPECT_THAT(server.pages[0], HasSubstr("scope=read"));
  EXPECT_THAT(server.forms[0], HasSubstr("code_verifier="));
  // The next connection begins with what was stored.
  EXPECT_EQ((*server.client())->token(Context()), "token-1");
}

TEST(OAuth, RenewsByTheRefreshTokenAndBeginsAnewWhenThatIsSpent) {
  AuthorizationServer server;
  const auto client = server.client().value();
  ASSERT_TRUE(client->refused(Context(), {.status = 401}));
  ASSERT_TRUE(client->refused(Context(), {.status = 401, .token = "token-1"}));
  EXPECT_EQ(client->token(Context()), "token-2");
  EXPECT_THAT(server.forms[1], HasSubstr("refresh_token=renew-1"));
  EXPECT_EQ(server.pages.size(), 1U) << "nobody was asked";
  ASSERT_TRUE(client->refused(Context(), {.status = 401, .token = "token-1"}));
  EXPECT_EQ(server.forms.size(), 2U) << "a late refusal of the token before costs nothing";
  server.refuses_refresh = true;
  ASSERT_TRUE(client->refused(Context(), {.status = 401, .token = "token-2"}));
  EXPECT_EQ(server.pages.size(), 2U);
}

TEST(OAuth, StepsUpToTheScopesBeforeAndTheWantedOnes) {
  AuthorizationServer server;
  const auto client = server.client().value();
  ASSERT_TRUE(client->refused(Context(), {.status = 401, .scope = "read"}));
  ASSERT_TRUE(client->refused(
      Context(),
      {.status = 403, .error = "insufficient_scope", .scope = "write", .token = "token-1"}));
  EXPECT_THAT(server.pages.at(1), HasSubstr("scope=read%20write"));
}

TEST(OAuth, RefusesWhatDoesNotBelongToIt) {
  AuthorizationServer server;
  const auto client = server.client().value();
  server.wrong_state = true;
  EXPECT_THAT(client->refused(Context(), {.status = 401}).error().message(), HasSubstr("state"));
  server.wrong_state = false;
  server.offers_pkce = false;
  EXPECT_THAT(client->refused(Context(), {.status = 401}).error().message(), HasSubstr("PKCE"));
  EXPECT_TRUE(server.forms.empty()) << "no code was sent";
  EXPECT_EQ(oauth("http://example.org/mcp", {.fetch =
                                                 [](const Context&, const std::string&) {
                                                   return contract::Result<AuthorizationReturn>(
                                                       AuthorizationReturn{});
                                                 },
                                             .store = server.store,
                                             .on_save_error = [](const contract::Error&) {}})
                .error()
                .code(),
            ErrorCode::InvalidArgument);
  EXPECT_FALSE(oauth(server.endpoint(), {}));
}

TEST(OAuth, AStoreThatFailsIsToldAndTriedAgain) {
  const bawn::test::TempDir folder;
  AuthorizationServer server;
  const std::string inside = folder.path() / "later";
  server.store = std::make_shared<FileTokenStore>(inside + "/tokens");
  const auto client = server.client().value();
  ASSERT_TRUE(client->refused(Context(), {.status = 401}));
  EXPECT_EQ(client->token(Context()), "token-1") << "the request goes on";
  ASSERT_FALSE(server.save_errors.empty());
  EXPECT_EQ(server.save_errors[0].find("token-1"), std::string::npos);
  ASSERT_EQ(::mkdir(inside.c_str(), 0700), 0);
  EXPECT_EQ(client->token(Context()), "token-1");
  EXPECT_EQ((*server.client())->token(Context()), "token-1") << "stored by now";
}

TEST(FileTokenStore, KeepsTokensOfManyAndTellsThemApart) {
  const bawn::test::TempDir folder;
  const std::string path = folder.path() / "tokens";
  FileTokenStore store(path);
  EXPECT_EQ(store.load({.endpoint = "a"}).value(), std::nullopt);
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] {
      EXPECT_TRUE(FileTokenStore(path).save({.endpoint = "a", .subject = std::to_string(i)},
                                            {.access_token = std::to_string(i)}));
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  for (int i = 0; i < 8; ++i) {
    const auto loaded = store.load({.endpoint = "a", .subject = std::to_string(i)});
    ASSERT_TRUE(loaded && *loaded);
    EXPECT_EQ((*loaded)->access_token, std::to_string(i));
  }
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST(FileTokenStore, RefusesFilesThatOthersReadAndFilesThatAreNone) {
  const bawn::test::TempDir folder;
  const std::string path = folder.path() / "tokens";
  FileTokenStore store(path);
  ASSERT_TRUE(store.save({.endpoint = "a"}, {.access_token = "t"}));
  ::chmod(path.c_str(), 0640);
  EXPECT_EQ(store.load({.endpoint = "a"}).error().code(), ErrorCode::PermissionDenied);
  EXPECT_EQ(store.save({.endpoint = "a"}, {}).error().code(), ErrorCode::PermissionDenied);
  ::chmod(path.c_str(), 0600);
  EXPECT_TRUE(store.load({.endpoint = "a"}));
  std::ofstream(path) << "not json";
  EXPECT_EQ(store.save({.endpoint = "a"}, {}).error().code(), ErrorCode::InvalidArgument);
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, "not json") << "what is not ours is not replaced";
}

}  // namespace
}  // namespace bawn::mcp::test
