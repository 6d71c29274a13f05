/// \file
/// The shared vectors of the wire: a tool's output as content, a server's result as output, what a
/// host says of remote tools, what a client refuses.
#include "bawn/contract/failure.hpp"
#include "bawn/contract/record.hpp"
#include "call_result.hpp"
#include "catalog.hpp"
#include "client/connection.hpp"
#include "client/remote_result.hpp"
#include "content.hpp"
#include "fake_tools.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <charconv>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace bawn::mcp::test {
namespace {

using bawn::test::expect_known_members;
using bawn::test::play_rows;
using bawn::test::vectors;
using contract::Json;
using contract::Outcome;
using ::testing::HasSubstr;

/// Members in whatever order.
void expect_same(const Json& left, const Json& right) {
  EXPECT_EQ(nlohmann::json::parse(left.dump()), nlohmann::json::parse(right.dump()));
}

Json sent(const Outcome& outcome,
          contract::ErrorDisclosure disclosure = contract::ErrorDisclosure::Full) {
  const auto core = Server::create({.disclosure = disclosure}, {echo_tool()})->core();
  const Era era{.modern = false, .version = std::string(kNewestLegacy)};
  return contract::parse_json(call_result(*core, *(*core->catalog())->find("echo"), outcome, era))
      .value();
}

TEST(WireVectors, OutputsBecomeTheGivenContent) {  // C-192
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/content_of.json");
  play_rows(file.at("cases"), {"name", "output", "content"}, [](const Json& entry) {
    const Json& output = entry.at("output");
    const auto result = output.contains("text") ? contract::text_result(output.at("text"))
                                                : contract::parts_result(output.at("parts"));
    expect_same(sent(result).at("content"), entry.at("content"));
  });
  play_rows(file.at("data_urls"), {"url", "mime", "ok"}, [](const Json& entry) {
    const Json part = {{"type", "input_image"}, {"image_url", entry.at("url")}};
    const Json block = content_of({part}, features_of(kNewestLegacy)).at(0);
    EXPECT_EQ(block.at("type") == "image", entry.at("ok").get<bool>());
    if (entry.at("ok") == true) {
      EXPECT_EQ(block.at("mimeType"), entry.at("mime"));
    }
  });
}

TEST(WireVectors, ResultsBecomeTheGivenOutputs) {  // C-175
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/client_result_of.json");
  const auto play = [](const Json& entry) {
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
  };
  play_rows(file.at("cases"), {"result", "text", "parts", "error", "details"}, play);
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
  expect_known_members(records, {"key", "accepted", "ignored"});
  const Json& accepted = records.at("accepted");
  expect_known_members(accepted, {"meta", "record", "also_on_isError"});
  for (const bool failed : {false, true}) {
    const auto record = record_in(accepted.at("meta"), failed);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->name_space, accepted.at("record").at("ns").get<std::string>());
    EXPECT_EQ(contract::dump_json(record->data),
              accepted.at("record").at("data").get<std::string>());
  }
  play_rows(records.at("ignored"), {"ns", "data", "error"},
            [&](const Json& entry) { EXPECT_FALSE(record_in(entry, false)); });
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
  EXPECT_EQ(file.at("prefix_rule"), "prefix + '__' + remote name");
  const auto play = [](const Json& entry) {
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
  };
  play_rows(file.at("cases"), {"options", "local", "sequential", "resource", "confined"}, play);
}

TEST(WireVectors, WhatATrustedServerSaysOfOrderIsRead) {  // C-179
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/client_names.json");
  const auto key = file.at("tool_meta_key").get<std::string>();
  const auto play = [&](const Json& entry) {
    EXPECT_EQ(entry.at("ok"), entry.at("meta").is_object());
    Json listed = entry_named("t");
    listed["_meta"] = {{key, entry.at("meta")}};
    const bool all = entry.value("all", false);
    const auto trusted = remote_tool(listed, {.trusted = true}).value();
    EXPECT_EQ(trusted->properties().sequential, all);
    EXPECT_EQ(trusted->properties().resource, all ? "shell:1" : "");
    EXPECT_FALSE(remote_tool(listed).value()->properties().sequential);
  };
  play_rows(file.at("tool_meta"), {"meta", "ok", "all", "why"}, play);
}

TEST(WireVectors, AnnotationsAreReadAsGiven) {  // C-178
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/annotations.json");
  EXPECT_EQ(file.at("replay_of_every_consumed_tool"), "unknown");
  const auto play = [](const Json& entry) {
    Json listed = entry_named("t");
    listed.update(entry.at("tool"));
    const auto tool = remote_tool(listed).value();
    const auto annotations = contract::annotations_of(*tool);
    ASSERT_EQ(annotations.has_value(), entry.at("stated").get<bool>());
    if (annotations) {
      const Json& want = entry.at("want");
      expect_known_members(want, {"title", "read_only", "destructive", "idempotent", "open_world"});
      EXPECT_EQ(annotations->title, want.value("title", ""));
      EXPECT_EQ(annotations->read_only, want.value("read_only", false));
      EXPECT_EQ(annotations->destructive, want.value("destructive", false));
      EXPECT_EQ(annotations->idempotent, want.value("idempotent", false));
      EXPECT_EQ(annotations->open_world, want.value("open_world", false));
    }
    EXPECT_EQ(contract::replay_of(*tool, {}, "{}", ""), contract::Replay::Unknown);
  };
  play_rows(file.at("consume"), {"tool", "stated", "want", "why"}, play);
}

/// What a list says of a tool with these annotations.
Json served(const std::optional<contract::Annotations>& annotations) {
  contract::Properties properties;
  properties.annotations = annotations;
  const auto tool = fake_tool("t", ToolFunction(), properties);
  const auto catalog = Catalog::create({tool}, {}).value();
  const auto list = contract::parse_json(
      catalog.list(contract::Context(), features_of(kNewestLegacy), ReportText()));
  return list->at(0).at("annotations");
}

TEST(WireVectors, AnnotationsAreServedAsGiven) {  // C-196
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/annotations.json");
  const contract::Annotations none{.destructive = false, .open_world = false};
  contract::Annotations reading = none;
  reading.read_only = true;
  reading.title = "Search issues";
  EXPECT_EQ(served(reading), file.at("serve").at("read_only"));
  const Json& always = file.at("seed004_always");
  EXPECT_EQ(always.at("in"), Json({{"title", ""}, {"all", false}}));
  EXPECT_EQ(served(none).dump(), always.at("json").get<std::string>());
  reading.title = "T";
  EXPECT_EQ(served(reading).dump(), always.at("with_title").get<std::string>());
  // The two sources disagree about unstated ones: nothing, or all four by their defaults. Here they
  // are stated always; docs/contract.md says why.
  EXPECT_TRUE(file.at("serve").at("zero").is_null());
  const Json& defaults = file.at("seed003_defaults");
  EXPECT_EQ(served(std::nullopt), Json({{"readOnlyHint", defaults.at("readOnly")},
                                        {"destructiveHint", defaults.at("destructive")},
                                        {"idempotentHint", defaults.at("idempotent")},
                                        {"openWorldHint", defaults.at("openWorld")}}));
}

TEST(WireVectors, DescriptionsAndSchemasAreLimitedAsGiven) {  // C-172, C-173
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/limits.json");
  EXPECT_EQ(ClientOptions().max_description_bytes,
            file.at("description_limit_default").get<std::size_t>());
  EXPECT_EQ(ClientOptions().max_result_bytes, file.at("result_limit_default").get<std::size_t>());
  const auto play = [](const Json& entry) {
    ClientOptions options;
    if (entry.at("limit").is_number()) {
      options.max_description_bytes = entry.at("limit");
    }
    Json listed = entry_named("t");
    listed["description"] = std::string(entry.at("bytes").get<std::size_t>(), 'x');
    EXPECT_EQ(remote_tool(listed, options).has_value(), entry.at("ok").get<bool>());
  };
  play_rows(file.at("description"), {"limit", "bytes", "ok", "error"}, play);
  const Json& schemas = file.at("schemas");
  expect_known_members(schemas, {"input_refused", "output_refused", "output_absent"});
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
  expect_known_members(names, {"ok", "refused", "error_max_bytes", "error_must_not_contain"});
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
  expect_known_members(file.at("result"),
                       {"measure", "example", "cases", "error", "error_max_bytes", "kind"});
  const auto measure = [&](const Json& entry) {
    ClientOptions options;
    if (entry.at("limit").is_number()) {
      options.max_result_bytes = entry.at("limit");
    }
    const Outcome made = outcome_of("dump", text_of(entry.at("text_bytes")), options);
    EXPECT_EQ(!made.error, entry.at("ok").get<bool>());
    if (made.error) {
      EXPECT_LE(made.error->message().size(),
                file.at("result").at("error_max_bytes").get<std::size_t>());
      std::string sentence = made.error->message();
      for (std::size_t i = 0; i < sentence.size(); ++i) {
        if (std::isdigit(static_cast<unsigned char>(sentence[i])) != 0) {
          const auto end = sentence.find_first_not_of("0123456789", i);
          sentence.replace(i, end - i, sentence.find("N bytes") < i ? "M" : "N");
        }
      }
      EXPECT_EQ(sentence, file.at("result").at("error").get<std::string>());
    }
  };
  play_rows(file.at("result").at("cases"), {"limit", "text_bytes", "ok"}, measure);
  const auto read = [](const Json& entry) {
    const Outcome made = outcome_of("t", entry.at("result"), {});
    if (entry.contains("error_contains")) {
      EXPECT_THAT(made.error->message(), HasSubstr(entry.at("error_contains").get<std::string>()));
      return;
    }
    // The value of these rows is the content's JSON; here it is beside the output, as it came.
    const auto* const raw = dynamic_cast<const RemoteDetails*>(made.result.details.get());
    const Json& value = entry.at("result").contains("content") ? raw->raw().at("content")
                                                               : made.result.structured.value();
    EXPECT_EQ(value.dump(), entry.at("value").get<std::string>());
  };
  play_rows(file.at("result_value"), {"result", "value", "error_contains"}, read);
}

/// What the row's tool gives.
Outcome given(const Json& row) {
  if (row.contains("isError")) {
    return contract::tool_error(row.at("content").at(0).at("text"));
  }
  if (row.contains("jsonrpc_error")) {
    return contract::Error(contract::ErrorCode::Internal, "the database's password is x");
  }
  contract::ToolResult result;
  result.structured = row.at("structuredContent");
  if (row.at("content").size() > 1) {
    const Json url = "data:image/png;base64," + row["content"][1]["data"].get<std::string>();
    result.output = std::vector<contract::Part>{Json{{"type", "input_image"}, {"image_url", url}}};
  }
  return result;
}

TEST(WireVectors, StructuredValuesAndFailuresAreServedAsGiven) {  // C-106, C-201
  BAWN_REQUIRE("shared-vectors");
  const auto play = [](const Json& row) {
    const Json json = sent(given(row), contract::ErrorDisclosure::ApprovedOnly);
    if (row.contains("jsonrpc_error")) {
      // A failed call is a result here, whoever failed: docs/contract.md says why. Its detail stays
      // hidden all the same.
      EXPECT_EQ(row.at("detail_hidden"), json.dump().find("password") == std::string::npos);
      EXPECT_EQ(json.at("isError"), true);
      return;
    }
    expect_same(json.at("content"), row.at("content"));
    EXPECT_EQ(json.value("structuredContent", Json()), row.value("structuredContent", Json()));
    EXPECT_EQ(json.value("isError", false), row.value("isError", false));
  };
  play_rows(vectors("mapping/seed004.json").at("cases"),
            {"call", "structuredContent", "content", "isError", "jsonrpc_error", "detail_hidden"},
            play);
}

}  // namespace
}  // namespace bawn::mcp::test
