#include "call_arguments.hpp"

#include "bawn/contract/make_tool.hpp"
#include "call_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace bawn::cli {
namespace {

using contract::field;
using testing::ContainsRegex;
using testing::HasSubstr;

struct Args {
  std::string path{};
  std::optional<int> max_bytes{};
  double ratio = 0;
  bool recursive = true;
  std::vector<std::string> words{};
  std::map<std::string, int> labels{};
  std::string json{};  // a name that the command line keeps for itself
  static constexpr auto describe() {
    return contract::fields(
        field("path", &Args::path).desc("File to read"), field("max_bytes", &Args::max_bytes),
        field("ratio", &Args::ratio).optional(), field("recursive", &Args::recursive).optional(),
        field("words", &Args::words).optional(), field("labels", &Args::labels).optional(),
        field("json", &Args::json).optional());
  }
};

contract::ToolInfo info() {
  return contract::describe_tool(
      *contract::make_tool<Args>(
           "read", "Read a file. And more", [](const contract::Context&, const Args&) {},
           {.cli = contract::CliInfo{.group = "files",
                                     .operation = "read",
                                     .positional = {"path", "words"},
                                     .examples = {{"All of it", R"({"path":"a"})"}}}})
           .value());
}

std::string read(const std::vector<std::string>& words) {
  const auto read = read_call_words(info(), words);
  return read ? contract::dump_json(read->arguments) : read.error().message();
}

TEST(CallArguments, FlagsBecomeMembersOfTheirType) {
  EXPECT_EQ(read({"--path", "7", "--max-bytes", "7", "--ratio=0.5", "--no-recursive"}),
            R"({"path":"7","max_bytes":7,"ratio":0.5,"recursive":false})");
  EXPECT_EQ(read({"--max_bytes=7", "--recursive", "--labels", R"({"a":1})"}),
            R"({"max_bytes":7,"recursive":true,"labels":{"a":1}})");
  EXPECT_EQ(read({"--words", "a", "--words", "b"}), R"({"words":["a","b"]})");
  EXPECT_EQ(read({"--recursive=false"}), R"({"recursive":false})");
}

TEST(CallArguments, WordsWithoutNamesGoWhereThePresentationSays) {  // C-220
  EXPECT_EQ(read({"a.txt", "x", "--y", "--", "z"}),
            R"({"path":"a.txt","words":["x","--y","--","z"]})");
  EXPECT_EQ(read({"--", "--help"}), R"({"path":"--help"})");
  EXPECT_EQ(read({}), "{}");
}

TEST(CallArguments, AllArgumentsComeAsOneDocumentToo) {
  EXPECT_EQ(read({"--arguments", R"({"path":"a","json":"j"})"}), R"({"path":"a","json":"j"})");
  EXPECT_THAT(read({"--arguments", "[]"}), HasSubstr("needs a JSON object"));
  EXPECT_THAT(read({"--arguments", R"({"a":1,"a":2})"}), HasSubstr("duplicate member"));
}

TEST(CallArguments, OwnFlagsAreNoArguments) {
  const auto words =
      read_call_words(info(), {"--json", "--help", "--answer", R"({"action":"decline"})"});
  ASSERT_TRUE(words);
  EXPECT_TRUE(words->json);
  EXPECT_TRUE(words->help);
  EXPECT_EQ(words->answers.size(), 1U);
  EXPECT_TRUE(words->arguments.empty());
}

TEST(CallArguments, AWrongWordIsNamedInOneSentence) {
  EXPECT_EQ(read({"--nope"}),
            R"(read has no argument "--nope"; `bawn call read --help` lists them)");
  EXPECT_EQ(read({"--max-bytes", "many"}),
            R"(--max-bytes needs a value of type integer, not "many")");
  EXPECT_EQ(read({"--path"}), "--path needs a value");
  EXPECT_EQ(read({"--path", "a", "--path=b"}), R"(the argument "path" is given twice)");
  EXPECT_EQ(read({"--recursive=maybe"}),
            R"(--recursive needs a value of type boolean, not "maybe")");
  const std::string endless(100'000, 'x');
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--" + endless}, {"--max-bytes", endless}, {"--recursive=" + endless}}) {
    EXPECT_LT(read(words).size(), 300U);
  }
}

TEST(CallText, HelpComesFromTheDescription) {  // C-220, C-221
  const std::string help = help_text(info());
  EXPECT_THAT(help, HasSubstr("usage: bawn call read path [words...] [ARGUMENTS]"));
  EXPECT_THAT(help, HasSubstr("--path TEXT"));
  EXPECT_THAT(help, HasSubstr("File to read (required)"));
  EXPECT_THAT(help, HasSubstr("--max-bytes N"));
  EXPECT_THAT(help, HasSubstr("--words TEXT ..."));
  EXPECT_THAT(help, HasSubstr(R"(bawn call read --arguments '{"path":"a"}')"));
  EXPECT_THAT(help, HasSubstr("3 the tool needs an answer"));
  EXPECT_THAT(list_text({info()}), HasSubstr("read             Read a file\n"));
}

TEST(CallText, HelpShowsTheValuesThatThereAreAndTheDefaults) {  // C-220
  const contract::ToolInfo tool{.name = "t", .description = "T.", .input_schema = R"({
    "type":"object","required":["mode"],"properties":{
      "mode":{"type":"string","enum":["kill","background"]},
      "after":{"type":["string","null"],"enum":["kill","let go",null],"default":"kill"},
      "policy":{"type":"string","enum":["read-only"]},
      "levels":{"type":"array","items":{"type":"integer","enum":[1,2]}},
      "limit":{"type":"integer","default":10000},
      "check":{"type":"boolean","default":true},
      "quiet":{"type":"boolean","default":false},
      "free":{"type":"string"}}})"};
  const std::string help = help_text(tool);
  EXPECT_THAT(help, ContainsRegex("--mode TEXT +\\(required; kill or background\\)\n"));
  EXPECT_THAT(help, ContainsRegex("--after TEXT +\\(kill or let go; default kill\\)\n"));
  EXPECT_THAT(help, ContainsRegex("--policy TEXT +\\(only read-only\\)\n"));
  EXPECT_THAT(help, ContainsRegex("--levels N \\.\\.\\. +\\(1 or 2\\)\n"));
  EXPECT_THAT(help, ContainsRegex("--limit N +\\(default 10000\\)\n"));
  EXPECT_THAT(help, ContainsRegex("--no-check +\\(default on\\)\n"));
  EXPECT_THAT(help, ContainsRegex("--quiet +\n"));
  EXPECT_THAT(help, ContainsRegex("--free TEXT +\n"));
}

TEST(CallText, ResultsAndQuestionsAreWrittenWhole) {  // C-221
  contract::ToolResult result = contract::text_result("text");
  result.structured = contract::Json{{"n", 1}};
  EXPECT_EQ(contract::dump_json(outcome_json(result)), R"({"output":"text","structured":{"n":1}})");
  EXPECT_EQ(contract::dump_json(
                outcome_json(contract::Error(contract::ErrorCode::NotFound, "there is none"))),
            R"({"output":"","error":{"code":"not_found","message":"there is none"}})");
  EXPECT_EQ(contract::dump_json(question_json({.message = "Sure?", .url = "https://a"})),
            R"({"message":"Sure?","url":"https://a"})");
}

TEST(CallArguments, TextThatIsNotUtf8IsRefusedAndNotReplaced) {
  EXPECT_THAT(read({"--path",
                    "a\xff"
                    "b"}),
              HasSubstr("needs UTF-8 text"));
  EXPECT_THAT(read({"a\xff"
                    "b"}),
              HasSubstr("needs UTF-8 text"));
  EXPECT_EQ(read({"--path", "\xc3\xa9"}), "{\"path\":\"\xc3\xa9\"}");
}

TEST(CallArguments, AListComesWholeOrPieceByPieceAndNotBoth) {
  for (const char* whole : {R"({"words":["a"]})", R"({"words":5})"}) {
    EXPECT_THAT(read({"--arguments", whole, "--words", "b"}), HasSubstr("given twice"));
    EXPECT_THAT(read({"--words", "b", "--arguments", whole}), HasSubstr("given twice"));
  }
}

TEST(CallArguments, ANegatedFlagTakesNoValue) {
  EXPECT_THAT(read({"--no-recursive=true"}), HasSubstr("takes no value"));
}

TEST(CallArguments, OurOwnFlagsTakeNoValue) {
  for (const char* word : {"--json=false", "--json=true", "--json=", "--help=no"}) {
    EXPECT_THAT(read({word, "a"}), HasSubstr("takes no value")) << word;
  }
}

TEST(CallArguments, AnAnswerNeedsAnActionThatThereIs) {
  EXPECT_THAT(read({"--answer", R"({"action":"bogus"})"}), HasSubstr("accept, decline or cancel"));
  EXPECT_EQ(read({"--answer", R"({"action":"decline"})"}), "{}");
}

}  // namespace
}  // namespace bawn::cli
