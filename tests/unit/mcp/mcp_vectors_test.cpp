/// \file
/// The shared vectors of the wire: a tool's output as content, a server's result as output, what a
/// host says of remote tools, what a client refuses.
#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/record.hpp"
#include "call_result.hpp"
#include "catalog.hpp"
#include "client/connection.hpp"
#include "client/remote_result.hpp"
#include "content.hpp"
#include "fake_tools.hpp"
#include "pipe_client.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <sstream>
#include <string>
#include <vector>

namespace bawn::mcp::test {
namespace {

using bawn::test::vectors;
using contract::Json;
using contract::Outcome;
using ::testing::HasSubstr;

/// Members in whatever order.
void expect_same(const Json& left, const Json& right) {
  EXPECT_EQ(nlohmann::json::parse(left.dump()), nlohmann::json::parse(right.dump()));
}

Json sent(const Outcome& outcome) {
  static const auto core = Server::create({}, {echo_tool()})->core();
  const Era era{.modern = false, .version = std::string(kNewestLegacy)};
  return contract::parse_json(call_result(*core, *core->catalog()->find("echo"), outcome, era))
      .value();
}

TEST(WireVectors, OutputsBecomeTheGivenContent) {  // C-192
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/content_of.json");
  for (const Json& entry : file.at("cases")) {
    SCOPED_TRACE(entry.at("name"));
    const Json& output = entry.at("output");
    const auto result = output.contains("text") ? contract::text_result(output.at("text"))
                                                : contract::parts_result(output.at("parts"));
    expect_same(sent(result).at("content"), entry.at("content"));
  }
  for (const Json& entry : file.at("data_urls")) {
    SCOPED_TRACE(entry.dump());
    const Json part = {{"type", "input_image"}, {"image_url", entry.at("url")}};
    const Json block = content_of({part}, features_of(kNewestLegacy)).at(0);
    EXPECT_EQ(block.at("type") == "image", entry.at("ok").get<bool>());
    if (entry.at("ok") == true) {
      EXPECT_EQ(block.at("mimeType"), entry.at("mime"));
    }
  }
}

TEST(WireVectors, ResultsBecomeTheGivenOutputs) {  // C-175
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/client_result_of.json");
  for (const Json& entry : file.at("cases")) {
    SCOPED_TRACE(entry.dump());
    const Outcome made = outcome_of("t", entry.at("result"), {});
    ASSERT_EQ(made.error.has_value(), entry.contains("error"));
    if (entry.contains("parts")) {
      EXPECT_EQ(Json(std::get<std::vector<contract::Part>>(made.result.output)), entry.at("parts"));
    } else if (entry.contains("text")) {
      EXPECT_EQ(std::get<std::string>(made.result.output), entry.at("text").get<std::string>());
    } else if (entry.at("error") != "any") {
      EXPECT_EQ(made.error->message(), entry.at("error").get<std::string>());
    }
    if (entry.contains("details")) {
      const auto* const raw = dynamic_cast<const RemoteDetails*>(made.result.details.get());
      ASSERT_NE(raw, nullptr);
      EXPECT_EQ(raw->raw(), entry.at("result"));
    }
  }
  for (const auto& [mime, name] : file.at("audio_names").items()) {
    const Json block = {{"type", "audio"}, {"mimeType", mime}, {"data", "AQ=="}};
    const Outcome made = outcome_of("t", {{"content", Json::array({block})}}, {});
    EXPECT_EQ(std::get<std::vector<contract::Part>>(made.result.output)[0].at("filename"), name);
  }
}

TEST(WireVectors, RecordsOfResultsAreReadAsGiven) {  // C-177
  BAWN_REQUIRE("shared-vectors");
  const Json records = vectors("mapping/client_result_of.json").at("records");
  const auto record_in = [&](const Json& entry, bool failed) {
    const Json result = {{"content", Json::array()},
                         {"isError", failed},
                         {"_meta", {{records.at("key").get<std::string>(), entry}}}};
    const Outcome made = outcome_of("t", result, {.trusted = true});
    return contract::record_of(made.result.details.get()).value();
  };
  const Json& accepted = records.at("accepted");
  for (const bool failed : {false, true}) {
    const auto record = record_in(accepted.at("meta"), failed);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->name_space, accepted.at("record").at("ns").get<std::string>());
    EXPECT_EQ(contract::dump_json(record->data),
              accepted.at("record").at("data").get<std::string>());
  }
  for (const Json& entry : records.at("ignored")) {
    EXPECT_FALSE(record_in(entry, false)) << entry;
  }
}

/// A further claim about the tool, to be filled in.
RemoteToolOptions& claim_about(ClientOptions& options, const std::string& name) {
  return options.tools.emplace_back(RemoteToolOptions{.name = name});
}

ConfinedFunction confined_as(const std::string& by) {
  return [by](const contract::Context&, std::string_view) {
    contract::Confinement confinement;
    confinement.confined = true;
    confinement.by = by;
    return confinement;
  };
}

/// "prefix P", "sequential T", "resource R T", "confined BY T" and "confined_fn none T".
ClientOptions options_in(const Json& words) {
  ClientOptions options;
  for (const Json& line : words) {
    std::istringstream in(line.get<std::string>());
    std::string word;
    std::string first;
    std::string second;
    in >> word >> first >> second;
    if (word == "prefix") {
      options.prefix = first;
    } else if (word == "sequential") {
      claim_about(options, first).sequential = true;
    } else if (word == "resource") {
      claim_about(options, second).resource = first;
    } else if (word == "confined") {
      claim_about(options, second).confined = confined_as(first);
    } else if (word == "confined_fn") {
      claim_about(options, second).confined = ConfinedFunction();
    } else {
      ADD_FAILURE() << "unknown option " << line;
    }
  }
  return options;
}

contract::Result<contract::ToolPtr> remote_tool(const Json& entry, ClientOptions options = {}) {
  const auto client = std::make_shared<RemoteClient>(std::move(options));
  return make_remote_tool(client, BAWN_TRY(listed_tool(client->options(), entry)));
}

Json entry_named(const std::string& name) {
  return {{"name", name}, {"inputSchema", {{"type", "object"}}}};
}

TEST(WireVectors, TheHostsWordsAboutToolsHoldAsGiven) {  // C-171
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/client_names.json");
  for (const Json& entry : file.at("cases")) {
    SCOPED_TRACE(entry.dump());
    const auto tool = remote_tool(entry_named("upper"), options_in(entry.at("options"))).value();
    if (entry.contains("local")) {
      EXPECT_EQ(tool->definition().name, entry.at("local").get<std::string>());
    }
    EXPECT_EQ(contract::is_sequential(*tool), entry.value("sequential", false));
    EXPECT_EQ(contract::resource_of(*tool), entry.value("resource", ""));
    if (entry.contains("confined")) {
      const auto confinement = contract::confined_by(*tool, {}, "{}");
      EXPECT_EQ(Json::array({confinement.confined, confinement.by}), entry.at("confined"));
    }
  }
}

TEST(WireVectors, WhatATrustedServerSaysOfOrderIsRead) {  // C-179
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/client_names.json");
  const auto key = file.at("tool_meta_key").get<std::string>();
  for (const Json& entry : file.at("tool_meta")) {
    SCOPED_TRACE(entry.dump());
    Json listed = entry_named("t");
    listed["_meta"] = {{key, entry.at("meta")}};
    const bool all = entry.value("all", false);
    const auto trusted = remote_tool(listed, {.trusted = true}).value();
    EXPECT_EQ(trusted->properties().sequential, all);
    EXPECT_EQ(trusted->properties().resource, all ? "shell:1" : "");
    EXPECT_FALSE(remote_tool(listed).value()->properties().sequential);
  }
}

TEST(WireVectors, AnnotationsAreReadAndServedAsGiven) {  // C-178, C-196
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/annotations.json");
  for (const Json& entry : file.at("consume")) {
    SCOPED_TRACE(entry.dump());
    Json listed = entry_named("t");
    listed.update(entry.at("tool"));
    const auto tool = remote_tool(listed).value();
    const auto annotations = contract::annotations_of(*tool);
    ASSERT_EQ(annotations.has_value(), entry.at("stated").get<bool>());
    if (annotations) {
      const Json& want = entry.at("want");
      EXPECT_EQ(annotations->title, want.value("title", ""));
      EXPECT_EQ(annotations->read_only, want.value("read_only", false));
      EXPECT_EQ(annotations->destructive, want.value("destructive", false));
      EXPECT_EQ(annotations->idempotent, want.value("idempotent", false));
      EXPECT_EQ(annotations->open_world, want.value("open_world", false));
    }
    EXPECT_EQ(contract::replay_of(*tool, {}, "{}", ""), contract::Replay::Unknown);
  }
  const auto served = [](const contract::Annotations& annotations) {
    contract::Properties properties;
    properties.annotations = annotations;
    const auto tool = fake_tool("t", ToolFunction(), properties);
    const auto catalog = Catalog::create({tool}, {}).value();
    const auto list = contract::parse_json(
        catalog.list(contract::Context(), features_of(kNewestLegacy), ReportText()));
    return list->at(0).at("annotations");
  };
  const contract::Annotations none{.destructive = false, .open_world = false};
  contract::Annotations reading = none;
  reading.read_only = true;
  reading.title = "Search issues";
  EXPECT_EQ(served(reading), file.at("serve").at("read_only"));
  EXPECT_EQ(served(none).dump(), file.at("seed004_always").at("json").get<std::string>());
  reading.title = "T";
  EXPECT_EQ(served(reading).dump(), file.at("seed004_always").at("with_title").get<std::string>());
}

TEST(WireVectors, DescriptionsAndSchemasAreLimitedAsGiven) {  // C-172, C-173
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/limits.json");
  EXPECT_EQ(ClientOptions().max_description_bytes,
            file.at("description_limit_default").get<std::size_t>());
  EXPECT_EQ(ClientOptions().max_result_bytes, file.at("result_limit_default").get<std::size_t>());
  for (const Json& entry : file.at("description")) {
    ClientOptions options;
    if (entry.at("limit").is_number()) {
      options.max_description_bytes = entry.at("limit");
    }
    Json listed = entry_named("t");
    listed["description"] = std::string(entry.at("bytes").get<std::size_t>(), 'x');
    EXPECT_EQ(remote_tool(listed, options).has_value(), entry.at("ok").get<bool>()) << entry;
  }
  const Json& schemas = file.at("schemas");
  for (const Json& refused : schemas.at("input_refused")) {
    Json listed = entry_named("t");
    listed["inputSchema"] = refused;
    if (refused == "missing") {
      listed.erase("inputSchema");
    }
    EXPECT_FALSE(remote_tool(listed)) << refused;
  }
  for (const Json& refused : schemas.at("output_refused")) {
    Json listed = entry_named("t");
    listed["outputSchema"] = refused;
    EXPECT_FALSE(remote_tool(listed)) << refused;
  }
  EXPECT_TRUE(remote_tool(entry_named("t")));
}

TEST(WireVectors, NamesAreRefusedAsGivenWithAHarmlessSentence) {  // C-172
  BAWN_REQUIRE("shared-vectors");
  const Json names = vectors("mapping/limits.json").at("names");
  /// "a*129" stands for 129 times "a".
  const auto spelled = [](const std::string& word) {
    const auto star = word.find('*');
    std::size_t count = 0;
    if (star != 1 || std::from_chars(word.data() + 2, word.data() + word.size(), count).ptr !=
                         word.data() + word.size()) {
      return word;
    }
    return std::string(count, word[0]);
  };
  for (const Json& name : names.at("ok")) {
    EXPECT_TRUE(remote_tool(entry_named(spelled(name)))) << name;
  }
  for (const Json& name : names.at("refused")) {
    const auto tool = remote_tool(entry_named(spelled(name)));
    ASSERT_FALSE(tool) << name;
    const std::string& sentence = tool.error().message();
    EXPECT_LE(sentence.size(), names.at("error_max_bytes").get<std::size_t>());
    for (const Json& part : names.at("error_must_not_contain")) {
      EXPECT_THAT(sentence, ::testing::Not(HasSubstr(part.get<std::string>())));
    }
  }
}

TEST(WireVectors, ResultsAreMeasuredAndReadAsGiven) {  // C-173, C-174
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/limits.json");
  const auto text_of = [](std::size_t bytes) {
    const Json block = {{"type", "text"}, {"text", std::string(bytes, 'x')}};
    return Json{{"content", Json::array({block})}};
  };
  for (const Json& entry : file.at("result").at("cases")) {
    ClientOptions options;
    if (entry.at("limit").is_number()) {
      options.max_result_bytes = entry.at("limit");
    }
    const Outcome made = outcome_of("dump", text_of(entry.at("text_bytes")), options);
    EXPECT_EQ(!made.error, entry.at("ok").get<bool>()) << entry;
    if (made.error) {
      EXPECT_LE(made.error->message().size(),
                file.at("result").at("error_max_bytes").get<std::size_t>());
    }
  }
  for (const Json& entry : file.at("result_value")) {
    SCOPED_TRACE(entry.dump());
    const Outcome made = outcome_of("t", entry.at("result"), {});
    if (entry.contains("error_contains")) {
      EXPECT_THAT(made.error->message(), HasSubstr(entry.at("error_contains").get<std::string>()));
      continue;
    }
    // The value of these rows is the content's JSON; here it is beside the output, as it came.
    const auto* const raw = dynamic_cast<const RemoteDetails*>(made.result.details.get());
    const Json& value = entry.at("result").contains("content") ? raw->raw().at("content")
                                                               : made.result.structured.value();
    EXPECT_EQ(value.dump(), entry.at("value").get<std::string>());
  }
}

TEST(WireVectors, StructuredValuesAreServedAsGiven) {  // C-201
  BAWN_REQUIRE("shared-vectors");
  int compared = 0;
  const Json file = vectors("mapping/seed004.json");
  for (const Json& entry : file.at("cases")) {
    if (!entry.contains("structuredContent")) {
      continue;
    }
    SCOPED_TRACE(entry.dump());
    contract::ToolResult result;
    result.structured = entry.at("structuredContent");
    if (entry.at("content").size() > 1) {
      const Json url = "data:image/png;base64," + entry["content"][1]["data"].get<std::string>();
      result.output =
          std::vector<contract::Part>{Json{{"type", "input_image"}, {"image_url", url}}};
    }
    const Json json = sent(result);
    expect_same(json.at("content"), entry.at("content"));
    EXPECT_EQ(json.at("structuredContent"), entry.at("structuredContent"));
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

/// What a tool sees of the client's answer to its question.
std::string seen(const Json& answer) {
  PipeClient client({fake_tool("ask", [](const contract::Context& context, const contract::Call&) {
    const auto got = contract::elicit(
        context,
        {.message = "Sure?", .schema = Json::parse(R"({"type":"object","required":["confirm"],
                                            "properties":{"confirm":{"type":"boolean"}}})")});
    if (!got) {
      return Outcome(got.error());
    }
    return Outcome(contract::text_result(std::string(contract::to_string(got->action)) + " " +
                                         (got->content ? got->content->dump() : "")));
  })});
  client.call(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{"elicitation":{}},"clientInfo":{}}})");
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}})");
  const Json question = client.receive();
  EXPECT_EQ(question.value("method", ""), "elicitation/create") << question;
  client.send(
      contract::dump_json(Json{{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", answer}}));
  return client.receive()["result"]["content"][0]["text"];
}

TEST(WireVectors, AnswersReachTheToolAsGiven) {  // C-155, C-198
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/elicitation.json");
  for (const Json& entry : file.at("serve").at("answers")) {
    if (entry.at("answer").is_null()) {
      continue;  // only the newest revision can leave one out, and is asked again: docs/mcp.md
    }
    const std::string text = seen(entry.at("answer"));
    if (entry.contains("tool_sees")) {
      EXPECT_EQ(text, entry.at("tool_sees").get<std::string>());
    } else {
      EXPECT_THAT(text, HasSubstr(entry.at("error_contains").get<std::string>()));
    }
  }
}

}  // namespace
}  // namespace bawn::mcp::test
