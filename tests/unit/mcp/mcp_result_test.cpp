#include "bawn/contract/record.hpp"
#include "call_result.hpp"
#include "catalog.hpp"
#include "content.hpp"
#include "fake_tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace bawn::mcp::test {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::Json;
using contract::Outcome;
using contract::text_result;
using contract::ToolResult;
using ::testing::HasSubstr;

std::shared_ptr<const Core> core_with(ServerOptions options = {}) {
  return Server::create(std::move(options), {echo_tool()})->core();
}

Json result_of(const Outcome& outcome, std::string version = "2025-11-25",
               ServerOptions options = {}) {
  const auto core = core_with(std::move(options));
  const Era era{.modern = version == kModernVersion, .version = std::move(version)};
  return contract::parse_json(call_result(*core, *(*core->catalog())->find("echo"), outcome, era))
      .value();
}

Json list_of(const Catalog& catalog, std::string_view version) {
  return contract::parse_json(catalog.list(contract::Context(), features_of(version), ReportText()))
      .value();
}

TEST(CallResult, ShowsControlCharactersInItsTextAndKeepsThemInTheStructure) {
  ToolResult result = text_result("a\x1b[31mred\t\r\n\x7f\xc2\x9b ü");
  result.structured = Json{{"output", "\x1b[31m"}};
  const Json json = result_of(result);
  EXPECT_EQ(json["content"][0]["text"], "a\\x1b[31mred\t\r\n\\x7f\\x9b ü");
  EXPECT_EQ(json["structuredContent"]["output"], "\x1b[31m");
}

TEST(CallResult, HasTheWholeTextAndTheWholeStructure) {
  ToolResult result = text_result("exit 0\nhi\n");
  result.structured = Json{{"exit_code", 0}, {"output", "hi\n"}};
  const Json json = result_of(result);
  EXPECT_EQ(json["content"], Json::array({Json{{"type", "text"}, {"text", "exit 0\nhi\n"}}}));
  EXPECT_EQ(json["structuredContent"], *result.structured);
  EXPECT_EQ(json["isError"], false);
  EXPECT_FALSE(json.contains("_meta"));
  EXPECT_FALSE(json.contains("resultType"));
}

TEST(CallResult, AModernResultSaysWhatItIsAndWhoMadeIt) {
  const Json json = result_of(text_result("x"), "2026-07-28");
  EXPECT_EQ(json["resultType"], "complete");
  EXPECT_EQ(json["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "bawn");
}

TEST(CallResult, OlderRevisionsGetNoStructure) {
  ToolResult result = text_result("x");
  result.structured = Json{{"a", 1}};
  EXPECT_FALSE(result_of(result, "2025-03-26").contains("structuredContent"));
  EXPECT_TRUE(result_of(result, "2025-06-18").contains("structuredContent"));
}

TEST(CallResult, AStructureWithoutTextIsItsOwnText) {
  ToolResult result;
  result.structured = Json{{"a", "b"}};
  EXPECT_EQ(result_of(result)["content"][0]["text"], R"({"a":"b"})");
}

TEST(CallResult, AnEmptyOutputIsOneEmptyText) {
  EXPECT_EQ(result_of(ToolResult{})["content"],
            Json::array({Json{{"type", "text"}, {"text", ""}}}));
}

TEST(CallResult, AnErrorIsShownAsAnErrorWithItsStructure) {
  ToolResult partial = text_result("never shown");
  partial.structured = Json{{"state", "refused"}};
  const Json json =
      result_of(Outcome(partial, Error(ErrorCode::InvalidArgument, "invalid arguments: /a")));
  EXPECT_EQ(json["isError"], true);
  EXPECT_EQ(json["content"],
            Json::array({Json{{"type", "text"}, {"text", "invalid arguments: /a"}}}));
  EXPECT_EQ(json["structuredContent"]["state"], "refused");
}

TEST(CallResult, OnlyApprovedSentencesAreShownWhenTheHostWantsThat) {  // C-106, C-108
  std::string logged;
  const ServerOptions options{.disclosure = contract::ErrorDisclosure::ApprovedOnly,
                              .log = [&](std::string_view line) { logged = line; }};
  const auto text_of = [&](const Error& error) {
    logged.clear();
    return result_of(Outcome(error), "2025-11-25", options)["content"][0]["text"]
        .get<std::string>();
  };
  EXPECT_EQ(text_of(Error(ErrorCode::Internal, "/srv/secret is broken")), "the tool failed");
  EXPECT_THAT(logged, HasSubstr("echo: /srv/secret is broken"))
      << "somebody must be able to read it";
  EXPECT_EQ(text_of(contract::tool_error("no such project").wrap("/srv/secret")),
            "no such project");
  EXPECT_THAT(logged, HasSubstr("/srv/secret"));
  EXPECT_EQ(text_of(Error(ErrorCode::InvalidArgument, "invalid arguments: a: no")),
            "invalid arguments: a: no");
  EXPECT_EQ(logged, "") << "nothing was withheld";
}

TEST(CallResult, CarriesTheReportAndTheRecord) {
  ToolResult result = text_result("x");
  result.confinement = contract::Confinement{.confined = true,
                                             .by = "landlock+seccomp",
                                             .confirmed = true,
                                             .policy = {},
                                             .policy_id = {},
                                             .user = {},
                                             .layers = {},
                                             .guarantees = {},
                                             .notes = {}};
  result.details = std::make_shared<contract::RecordDetails>(
      contract::Record{.name_space = "shell:process-group", .data = Json{{"pgid", 7}}});
  const Json meta = result_of(result)["_meta"];
  EXPECT_EQ(meta["bawn/confinement"], contract::to_json(*result.confinement));
  EXPECT_EQ(meta["bawn/record"], (Json{{"ns", "shell:process-group"}, {"data", R"({"pgid":7})"}}));
  // A record is kept beside an error, too.
  EXPECT_TRUE(
      result_of(Outcome(result, Error(ErrorCode::Busy, "busy")))["_meta"].contains("bawn/record"));
}

TEST(ReportText, FollowsEveryChangeOfTheReport) {
  const ReportText text;
  contract::Confinement report;
  for (int round = 0; round < 3; ++round) {
    report.layers.push_back(contract::Layer{.name = "landlock",
                                            .requested = true,
                                            .applied = true,
                                            .abi = 7,
                                            .missing = {},
                                            .reason = {}});
    EXPECT_EQ(*text.of(report), contract::dump_json(contract::to_json(report)));
    EXPECT_EQ(text.of(report), text.of(report));
  }
  report.layers.back().applied = false;
  EXPECT_EQ(*text.of(report), contract::dump_json(contract::to_json(report)));
}

TEST(CallResult, ARecordThatCannotBeWrittenSaysSoInItsPlace) {
  ToolResult result = text_result("x");
  result.details =
      std::make_shared<contract::RecordDetails>(contract::Record{.name_space = "", .data = {}});
  const Json json = result_of(result);
  EXPECT_EQ(json["isError"], false);
  EXPECT_TRUE(json["_meta"]["bawn/record"].contains("error"));
}

TEST(ContentOf, MapsPartsOneToOne) {
  const WireFeatures features = features_of(kModernVersion);
  const struct {
    const char* part;
    const char* block;
  } cases[] = {
      {R"({"type":"input_text","text":"a"})", R"({"type":"text","text":"a"})"},
      {R"({"type":"output_text","text":"b","annotations":[]})", R"({"type":"text","text":"b"})"},
      {R"({"type":"input_image","image_url":"data:image/png;base64,AQID"})",
       R"({"type":"image","data":"AQID","mimeType":"image/png"})"},
      {R"({"type":"input_image","image_url":"data:;base64,AQ=="})",
       R"({"type":"image","data":"AQ==","mimeType":"application/octet-stream"})"},
      {R"({"type":"input_image","image_url":"https://x/y.png"})",
       R"({"type":"resource_link","uri":"https://x/y.png","name":"image"})"},
      {R"({"type":"input_file","filename":"notes.bin","file_data":"CQ=="})",
       R"({"type":"resource","resource":{"uri":"file:///notes.bin","blob":"CQ=="}})"},
      {R"({"type":"input_file","filename":"/a/n.bin","file_data":"CQ=="})",
       R"({"type":"resource","resource":{"uri":"file:///a/n.bin","blob":"CQ=="}})"},
      {R"({"type":"input_file","filename":"n","file_url":"https://x/n","file_data":"CQ=="})",
       R"({"type":"resource","resource":{"uri":"https://x/n","blob":"CQ=="}})"},
      {R"({"type":"input_file","file_url":"https://x/n","filename":"n"})",
       R"({"type":"resource_link","uri":"https://x/n","name":"n"})"},
      {R"({"type":"input_file","filename":"n"})", R"({"type":"text","text":"n"})"},
      {R"({"type":"input_file","file_data":"!!"})", R"({"type":"text","text":"!!"})"},
      {R"({"type":"refusal","refusal":"no"})",
       R"({"type":"text","text":"{\"type\":\"refusal\",\"refusal\":\"no\"}"})"},
      {R"("just a string")", R"({"type":"text","text":"\"just a string\""})"},
  };
  for (const auto& [part, block] : cases) {
    EXPECT_EQ(content_of({contract::parse_json(part).value()}, features)[0],
              contract::parse_json(block).value())
        << part;
  }
}

TEST(ContentOf, OlderRevisionsReadLinksAsText) {
  const Json part = {{"type", "input_file"}, {"file_url", "https://x/n"}, {"filename", "n"}};
  EXPECT_EQ(content_of({part}, features_of("2025-03-26"))[0]["text"], "n: https://x/n");
}

TEST(IsBase64, TakesPaddedStandardBase64Only) {
  for (const auto* const good : {"", "AQID", "AQ==", "AQI=", "+/+/"}) {
    EXPECT_TRUE(is_base64(good)) << good;
  }
  for (const auto* const bad : {"***", "AQI", "A===", "AQ=I", "AQ_-"}) {
    EXPECT_FALSE(is_base64(bad)) << bad;
  }
}

class CatalogTest : public ::testing::Test {
 protected:
  static contract::ToolPtr tool(std::string name, std::optional<std::string> schema = {},
                                contract::Properties properties = {}) {
    return std::make_shared<const FakeTool>(
        contract::Definition{
            .name = std::move(name), .description = "d", .parameters = std::move(schema)},
        std::move(properties), ToolFunction());
  }
  static std::string problem(std::vector<contract::ToolPtr> tools, ServerOptions options = {}) {
    const auto server = Server::create(std::move(options), std::move(tools));
    return server ? "" : server.error().message();
  }
};

TEST_F(CatalogTest, RefusesTheWholeListForOneBadTool) {
  EXPECT_EQ(problem({tool("a"), tool("b")}), "");
  EXPECT_THAT(problem({tool("a"), nullptr}), HasSubstr("null"));
  EXPECT_THAT(problem({tool("a"), tool("a")}), HasSubstr("two tools"));
  for (const auto& name :
       std::vector<std::string>{"", "A", "1a", "a.b", "a-b", std::string(33, 'a')}) {
    EXPECT_THAT(problem({tool("a"), tool(name)}), HasSubstr("tool name")) << name;
  }
  EXPECT_THAT(problem({tool("a", "{")}), HasSubstr("input schema"));
  EXPECT_THAT(problem({tool("a", R"({"type":"string"})")}), HasSubstr("\"type\": \"object\""));
  contract::Properties structured;
  structured.output_schema = "[]";
  EXPECT_THAT(problem({tool("a", {}, structured)}), HasSubstr("output schema"));
  EXPECT_THAT(problem({}, {.instructions = std::string(3000, 'x')}), HasSubstr("2048"));
}

TEST_F(CatalogTest, DescribesAToolAsItsReceiverUnderstandsIt) {
  contract::Properties properties;
  properties.annotations = contract::Annotations{.title = "Read",
                                                 .read_only = true,
                                                 .destructive = false,
                                                 .idempotent = true,
                                                 .open_world = false};
  properties.output_schema = R"({"type":"object","required":["a"]})";
  properties.confined = [](const contract::Context&, std::string_view) {
    contract::Confinement forecast;
    forecast.confined = true;
    forecast.by = "landlock";
    return forecast;
  };
  const std::string schema = R"({"type":"object","$defs":{"z":{"$anchor":"q"}},"properties":{}})";
  const auto catalog = Catalog::create({tool("read", schema, properties)},
                                       {{"read", Json{{"anthropic/maxResultSizeChars", 9}}}});
  ASSERT_TRUE(catalog);
  const Json newest = list_of(*catalog, "2025-11-25")[0];
  EXPECT_EQ(newest["name"], "read");
  EXPECT_EQ(newest["title"], "Read");
  EXPECT_EQ(newest["inputSchema"].dump(), schema);
  EXPECT_EQ(newest["outputSchema"]["required"][0], "a");
  EXPECT_EQ(newest["annotations"], (Json{{"title", "Read"},
                                         {"readOnlyHint", true},
                                         {"destructiveHint", false},
                                         {"idempotentHint", true},
                                         {"openWorldHint", false}}));
  EXPECT_EQ(newest["_meta"]["bawn/confinement"]["by"], "landlock");
  EXPECT_EQ(newest["_meta"]["anthropic/maxResultSizeChars"], 9);

  const Json oldest = list_of(*catalog, "2024-11-05")[0];
  for (const auto* const member : {"title", "outputSchema", "annotations"}) {
    EXPECT_FALSE(oldest.contains(member)) << member;
  }
}

TEST_F(CatalogTest, SpellsOutAllHintsOfAToolThatStatesNone) {
  const auto catalog = Catalog::create({tool("b"), tool("a")}, {});
  const Json list = list_of(*catalog, "2025-11-25");
  EXPECT_EQ(list[0]["name"], "b") << "in the order of registration";
  EXPECT_EQ(list[1]["annotations"], (Json{{"readOnlyHint", false},
                                          {"destructiveHint", true},
                                          {"idempotentHint", false},
                                          {"openWorldHint", true}}));
  EXPECT_EQ(list[0]["inputSchema"].dump(), R"({"type":"object","properties":{},"required":[]})");
  EXPECT_EQ(list[0]["_meta"]["bawn/confinement"]["confined"], false);
}

}  // namespace
}  // namespace bawn::mcp::test
