#include "bawn/contract/record.hpp"
#include "call_result.hpp"
#include "catalog.hpp"
#include "client/remote_result.hpp"
#include "fake_tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bawn::mcp::test {
namespace {

using contract::Json;
using contract::Outcome;
using contract::output_text;
using ::testing::HasSubstr;

Json block(std::string_view text) {
  return contract::parse_json(text).value();
}

Outcome outcome(const Json& result, const ClientOptions& options = {}) {
  return outcome_of("far", result, options);
}

Outcome of_content(std::string_view content) {
  return outcome({{"content", block(content)}});
}

std::vector<contract::Part> parts_of(std::string_view content) {
  const Outcome made = of_content(content);
  const auto* const parts = std::get_if<std::vector<contract::Part>>(&made.result.output);
  return parts != nullptr ? *parts : std::vector<contract::Part>();
}

TEST(RemoteResult, TextBlocksBecomeOneText) {  // C-175
  EXPECT_EQ(
      std::get<std::string>(of_content(R"([{"type":"text","text":"one"},{"type":"text","text":""},
                               {"type":"text","text":"two"}])")
                                .result.output),
      "one\n\ntwo");
  EXPECT_EQ(std::get<std::string>(of_content("[]").result.output), "");
}

TEST(RemoteResult, OtherBlocksBecomeParts) {  // C-175
  const struct {
    const char* block;
    const char* part;
  } cases[] = {
      {R"({"type":"image","mimeType":"image/gif","data":"R0lG"})",
       R"({"type":"input_image","image_url":"data:image/gif;base64,R0lG"})"},
      {R"({"type":"image","data":"R0lG"})",
       R"({"type":"input_image","image_url":"data:application/octet-stream;base64,R0lG"})"},
      {R"({"type":"audio","mimeType":"AUDIO/OGG; codecs=opus","data":"T2dn"})",
       R"({"type":"input_file","filename":"audio.ogg","file_data":"T2dn"})"},
      {R"({"type":"audio","mimeType":"audio/midi","data":"TVRo"})",
       R"({"type":"input_file","filename":"audio","file_data":"TVRo"})"},
      {R"({"type":"resource","resource":{"uri":"x:/t","text":"inside"}})",
       R"({"type":"text","text":"inside"})"},
      {R"({"type":"resource","resource":{"uri":"x:/b","blob":"AAEC"}})",
       R"({"type":"input_file","filename":"x:/b","file_data":"AAEC"})"},
      {R"({"type":"resource_link","uri":"x:/l","name":"l"})",
       R"({"type":"text","text":"resource: x:/l"})"},
      {R"({"type":"hologram","data":1})", R"({"type":"hologram","data":1})"},
      {"7", "7"},
  };
  for (const auto& [from, to] : cases) {
    const auto parts = parts_of("[" + std::string(from) + "]");
    ASSERT_EQ(parts.size(), 1U) << from;
    EXPECT_EQ(parts[0], block(to)) << from;
  }
}

TEST(RemoteResult, StructureReachesTheModelOnce) {  // C-175
  const Json structured = block(R"({"n":1,"s":"x"})");
  const auto text_with = [&](std::string_view content) {
    return output_text(
        outcome({{"content", block(content)}, {"structuredContent", structured}}).result);
  };
  EXPECT_EQ(text_with(R"([{"type":"text","text":"found"}])"), "found\n{\"n\":1,\"s\":\"x\"}");
  EXPECT_EQ(text_with("[]"), R"({"n":1,"s":"x"})");
  EXPECT_EQ(text_with(R"([{"type":"image","data":"AA=="}])"), R"({"n":1,"s":"x"})");
  EXPECT_EQ(text_with(R"([{"type":"text","text":"{ \"s\": \"x\", \"n\": 1.0 }"}])"),
            R"({ "s": "x", "n": 1.0 })")
      << "the text repeats it";
  EXPECT_EQ(outcome({{"structuredContent", structured}}).result.structured, structured);
}

TEST(RemoteResult, AnErrorSaysWhatTheServerSaid) {  // C-175
  const auto said = [](const Json& content) {
    const Outcome made = outcome({{"isError", true}, {"content", content}});
    EXPECT_NE(made.result.details, nullptr);
    return made.error->message();
  };
  EXPECT_EQ(said(block(R"([{"type":"text","text":"no such file"}])")), "no such file");
  EXPECT_EQ(said(Json::array()), "tool call failed");
}

TEST(RemoteResult, WhatIsNoResultIsAnError) {
  for (const char* odd : {"null", "[]", "5", R"({"content":"text"})", R"({"content":null})"}) {
    EXPECT_TRUE(outcome(block(odd)).error) << odd;
  }
}

Json with_meta(std::string_view key, std::string_view value) {
  return {{"content", Json::array()}, {"_meta", {{std::string(key), block(value)}}}};
}

TEST(RemoteResult, RecordsAreReadFromTrustedServersOnly) {  // C-177
  const ClientOptions trusting{.trusted = true};
  const Json result = with_meta("bawn/record", R"({"ns":"a:b","data":"{\"pid\":7}"})");
  const auto record = contract::record_of(outcome(result, trusting).result.details.get()).value();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->name_space, "a:b");
  EXPECT_EQ(contract::dump_json(record->data), R"({"pid":7})");
  EXPECT_FALSE(contract::record_of(outcome(result).result.details.get()).value());
  for (const char* odd :
       {"null", "7", R"({"data":"1"})", R"({"ns":"a:b"})", R"({"ns":7,"data":"1"})",
        R"({"ns":"a:b","data":"{"})", R"({"ns":"a:b","data":{"pid":7}})", R"({"ns":"","data":"1"})",
        R"({"error":"broken"})"}) {
    const Outcome made = outcome(with_meta("bawn/record", odd), trusting);
    EXPECT_FALSE(contract::record_of(made.result.details.get()).value()) << odd;
    EXPECT_FALSE(made.error) << odd;
  }
}

// A proxy gives its client what the server behind it gave.
TEST(RemoteResult, GoesOutAgainAsItCameIn) {
  const Json result = block(R"({"content":[
      {"type":"text","text":"a"},{"type":"text","text":"b"},
      {"type":"audio","mimeType":"audio/midi","data":"TVRo"},
      {"type":"resource","resource":{"uri":"x:/t","mimeType":"text/x","text":"inside"}},
      {"type":"resource_link","uri":"x:/l","name":"l","mimeType":"text/x"}],
      "structuredContent":{"n":1}})");
  const auto core = Server::create({}, {echo_tool()})->core();
  const auto sent = [&](std::string version) {
    const Era era{.modern = false, .version = std::move(version)};
    return block(call_result(*core, *(*core->catalog())->find("echo"), outcome(result), era));
  };
  const Json newest = sent("2025-11-25");
  EXPECT_EQ(newest["content"], result["content"]);
  EXPECT_EQ(newest["structuredContent"], result["structuredContent"]);
  const Json oldest = sent("2024-11-05");
  EXPECT_EQ(oldest["content"][2], block(R"({"type":"text","text":"[audio]"})"));
  EXPECT_EQ(oldest["content"][4], block(R"({"type":"text","text":"resource: x:/l"})"));
}

TEST(RemoteResult, TheLimitIsExactAndSaysThatTheCallRan) {            // C-173
  const Json content = block(R"([{"type":"text","text":"12345"}])");  // 32 bytes
  for (const bool failed : {false, true}) {
    const Json result = {{"content", content}, {"isError", failed}};
    EXPECT_EQ(outcome(result, {.max_result_bytes = 32}).error.has_value(), failed);
    const Outcome refused = outcome(result, {.max_result_bytes = 31});
    EXPECT_EQ(refused.error->message(),
              R"(mcp: tool "far" ran, but its result is 32 bytes, over the 31-byte limit)");
    EXPECT_EQ(outcome(result, {.max_result_bytes = 0}).error.has_value(), failed);
  }
}

}  // namespace
}  // namespace bawn::mcp::test
