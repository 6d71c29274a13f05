/// \file
/// What a remote server has beside tools, read by the client: as it is given, and from servers that
/// say what no client should believe.
#include "bawn/mcp/client.hpp"
#include "bawn/mcp/http_client.hpp"
#include "fake_tools.hpp"
#include "far_server.hpp"
#include "http_client.hpp"

#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <utility>

namespace bawn::mcp::test {
namespace {

using contract::Context;
using contract::ErrorCode;
using contract::Json;
using contract::Result;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Notes final : public contract::ResourceProvider {
 public:
  Result<std::vector<contract::Resource>> list(const Context& /*context*/) const override {
    return std::vector<contract::Resource>{{.uri = "note://1",
                                            .name = "one",
                                            .title = "The first",
                                            .description = "A note.",
                                            .mime_type = "text/plain",
                                            .size = 5}};
  }
  std::vector<contract::ResourceTemplate> templates() const override {
    return {{.uri_template = "note://{id}",
             .name = "notes",
             .title = "",
             .description = "All of them.",
             .mime_type = "text/plain"}};
  }
  Result<std::vector<contract::ResourceContents>> read(const Context& /*context*/,
                                                       const std::string& uri) const override {
    if (uri == "note://1") {
      return std::vector<contract::ResourceContents>{
          {.uri = uri, .mime_type = "text/plain", .bytes = "hello"},
          {.uri = uri,
           .mime_type = "image/png",
           .bytes = std::string("\x89\0P", 3),
           .text = false}};
    }
    return contract::fail(ErrorCode::NotFound, "there is none");
  }
  std::vector<std::string> complete(const Context& /*context*/, std::string_view uri_template,
                                    std::string_view argument,
                                    std::string_view value) const override {
    return {std::string(uri_template) + " " + std::string(argument) + " " + std::string(value)};
  }
};

Prompt greeting() {
  return {
      .name = "greet",
      .title = "Greeting",
      .description = "Greets.",
      .arguments = {{.name = "who", .description = "Whom", .required = true}},
      .get = [](const Context&, const Prompt::Arguments& given) -> Result<PromptMessages> {
        return PromptMessages{
            .description = "A greeting",
            .messages = {{{"role", "user"},
                          {"content", {{"type", "text"}, {"text", "Greet " + given.at("who")}}}}}};
      },
      .complete =
          [](const Context&, std::string_view argument, std::string_view value) {
            return std::vector<std::string>{std::string(argument) + "=" + std::string(value)};
          }};
}

class RemoteFeaturesOverHttp : public ::testing::TestWithParam<EraChoice> {
 protected:
  static ServerOptions with_all() {
    ServerOptions options;
    options.resources = std::make_shared<const Notes>();
    options.prompts = {greeting()};
    return options;
  }
  static std::shared_ptr<Client> connect(const HttpFixture& http, ClientOptions options = {}) {
    options.era = GetParam();
    auto client = connect_http(
        Context(), "http://127.0.0.1:" + std::to_string(http.port()) + "/mcp", std::move(options));
    EXPECT_TRUE(client) << client.error().message();
    return client.value_or(nullptr);
  }
};

TEST_P(RemoteFeaturesOverHttp, ResourcesAreListedReadAndCompleted) {
  const HttpFixture http({echo_tool()}, with_all());
  const auto client = connect(http);
  const auto features = client->features(Context());
  ASSERT_TRUE(features) << features.error().message();
  const contract::ResourceProvider& resources = *features->resources;
  const auto list = resources.list(Context()).value();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].uri, "note://1");
  EXPECT_EQ(list[0].title, "The first");
  EXPECT_EQ(list[0].description, "A note.");
  EXPECT_EQ(list[0].mime_type, "text/plain");
  EXPECT_EQ(list[0].size, 5U);
  ASSERT_EQ(resources.templates().size(), 1U);
  EXPECT_EQ(resources.templates()[0].uri_template, "note://{id}");
  const auto parts = resources.read(Context(), "note://1").value();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].bytes, "hello");
  EXPECT_TRUE(parts[0].text);
  EXPECT_EQ(parts[1].bytes, std::string("\x89\0P", 3));
  EXPECT_FALSE(parts[1].text);
  EXPECT_EQ(resources.read(Context(), "note://2").error().code(), ErrorCode::NotFound);
  EXPECT_THAT(resources.complete(Context(), "note://{id}", "id", "7"),
              ElementsAre("note://{id} id 7"));
}

TEST_P(RemoteFeaturesOverHttp, PromptsAreListedExpandedAndCompleted) {
  const HttpFixture http({echo_tool()}, with_all());
  const auto client = connect(http);
  const auto features = client->features(Context());
  ASSERT_TRUE(features) << features.error().message();
  ASSERT_EQ(features->prompts.size(), 1U);
  const Prompt& prompt = features->prompts[0];
  EXPECT_EQ(prompt.name, "greet");
  ASSERT_EQ(prompt.arguments.size(), 1U);
  EXPECT_TRUE(prompt.arguments[0].required);
  const auto messages = prompt.get(Context(), {{"who", "Ada"}});
  ASSERT_TRUE(messages) << messages.error().message();
  EXPECT_EQ(messages->description, "A greeting");
  EXPECT_EQ(messages->messages.at(0)["content"]["text"], "Greet Ada");
  EXPECT_THAT(prompt.complete(Context(), "who", "A"), ElementsAre("who=A"));
}

TEST_P(RemoteFeaturesOverHttp, WhatIsReadIsLimited) {
  const HttpFixture http({echo_tool()}, with_all());
  const auto client = connect(http, {.max_result_bytes = 7});
  const auto features = client->features(Context()).value();
  EXPECT_THAT(features.resources->read(Context(), "note://1").error().message(),
              HasSubstr("has more than 7 bytes"));
  EXPECT_THAT(features.prompts[0].get(Context(), {{"who", "x"}}).error().message(),
              HasSubstr("have more than 7 bytes"));
}

TEST_P(RemoteFeaturesOverHttp, AServerOfToolsAloneHasNone) {
  const HttpFixture http({echo_tool()});
  const auto client = connect(http);
  const auto features = client->features(Context());
  ASSERT_TRUE(features) << features.error().message();
  EXPECT_EQ(features->resources, nullptr);
  EXPECT_TRUE(features->prompts.empty());
}

INSTANTIATE_TEST_SUITE_P(Eras, RemoteFeaturesOverHttp,
                         ::testing::Values(EraChoice::Auto, EraChoice::Legacy),
                         [](const auto& tested) {
                           return tested.param == EraChoice::Legacy ? "Legacy" : "Modern";
                         });

/// An older server whose results are as the test says.
class Liar {
 public:
  explicit Liar(std::function<std::string(const std::string& method)> result) {
    pipes_.script([result = std::move(result)](const Json& message) -> std::string {
      if (!message.contains("id")) {
        return {};
      }
      const std::string method = message["method"];
      return R"({"jsonrpc":"2.0","id":)" + message["id"].dump() + "," +
             (method == "initialize" ? kHello : result(method)) + "}";
    });
    auto made = pipes_.connect({.era = EraChoice::Legacy});
    EXPECT_TRUE(made) << made.error().message();
    client = made.value_or(nullptr);
  }

 private:
  static constexpr const char* kHello =
      R"("result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{},"prompts":{},)"
      R"("completions":{}},"serverInfo":{"name":"liar","version":"1"}})";
  Pipes pipes_;

 public:
  std::shared_ptr<Client> client;  // gone before its pipes
};

/// Empty lists but for the method of the test.
std::function<std::string(const std::string&)> only(std::string method, std::string result) {
  return [method = std::move(method), result = std::move(result)](const std::string& asked) {
    return asked == method
               ? result
               : std::string(R"("result":{"resources":[],"resourceTemplates":[],"prompts":[]})");
  };
}

TEST(RemoteFeatures, ListsOfLiarsAreRefusedWhole) {
  const std::array<std::pair<const char*, const char*>, 8> kCases = {{
      {R"("result":{"prompts":7})", "there is no list of prompts"},
      {R"("result":7)", "there is no list of prompts"},
      {R"("result":{"prompts":[7]})", "an entry is no object"},
      {R"("result":{"prompts":[{"title":"x"}]})", "an entry has no name"},
      {R"("result":{"prompts":[{"name":7}]})", "name must be a string"},
      {R"("result":{"prompts":[{"name":"a"},{"name":"a"}]})", "two prompts are named"},
      {R"("result":{"prompts":[{"name":"a","arguments":[{"name":[]}]}]})", "name must be a string"},
      {R"("error":{"code":-32603,"message":"no"})", "no"},
  }};
  for (const auto& [result, sentence] : kCases) {
    const Liar liar(only("prompts/list", result));
    const auto features = liar.client->features(Context());
    ASSERT_FALSE(features) << result;
    EXPECT_THAT(features.error().message(), HasSubstr(sentence)) << result;
  }
}

TEST(RemoteFeatures, PagesThatGoInACircleEnd) {
  const Liar liar(only("prompts/list", R"("result":{"prompts":[],"nextCursor":"again"})"));
  EXPECT_THAT(liar.client->features(Context()).error().message(), HasSubstr("in a circle"));
}

TEST(RemoteFeatures, AServerWithoutTemplatesHasResourcesAllTheSame) {
  const Liar liar(
      only("resources/templates/list", R"("error":{"code":-32601,"message":"Method not found"})"));
  const auto features = liar.client->features(Context());
  ASSERT_TRUE(features) << features.error().message();
  EXPECT_TRUE(features->resources->templates().empty());
  EXPECT_TRUE(features->resources->list(Context()).value().empty());
}

TEST(RemoteFeatures, ContentsOfLiarsAreRefused) {
  const std::array<std::pair<const char*, const char*>, 6> kCases = {{
      {R"("result":{})", "there are no contents"},
      {R"("result":{"contents":[7]})", "a part is no object"},
      {R"("result":{"contents":[{"uri":"x:1"}]})", "neither text nor base64"},
      {R"("result":{"contents":[{"uri":"x:1","blob":"***"}]})", "neither text nor base64"},
      {R"("result":{"contents":[{"uri":"x:1","text":[]}]})", "text must be a string"},
      {R"("result":{"resultType":"input_required","inputRequests":{}})", "asks for input"},
  }};
  for (const auto& [result, sentence] : kCases) {
    const Liar liar(only("resources/read", result));
    const auto features = liar.client->features(Context());
    ASSERT_TRUE(features) << features.error().message();
    const auto read = features->resources->read(Context(), "x:1");
    ASSERT_FALSE(read) << result;
    EXPECT_THAT(read.error().message(), HasSubstr(sentence)) << result;
  }
}

TEST(RemoteFeatures, CompletionsOfLiarsAreNone) {
  for (const char* const result :
       {R"("result":{})", R"("result":{"completion":7})", R"("result":{"completion":{"values":7}})",
        R"("error":{"code":1,"message":"no"})"}) {
    const Liar liar(only("completion/complete", result));
    const auto features = liar.client->features(Context()).value();
    EXPECT_TRUE(features.resources->complete(Context(), "x:{id}", "id", "").empty()) << result;
  }
}

}  // namespace
}  // namespace bawn::mcp::test
