/// \file
/// Searches that meet something wrong on the way, or take too long.
#include "tool_fixture.hpp"

#include <unistd.h>

#include <random>

namespace bawn::test {
namespace {

using contract::Json;
using ::testing::HasSubstr;
using ::testing::Not;

class Searching : public FileToolFixture {
 protected:
  Json search(Json arguments) { return works("search_files", std::move(arguments)).structured; }
};

TEST_F(Searching, BadIgnoreLinesAndFilesThatCannotBeReadDoNotEndIt) {
  std::filesystem::create_directory(server_->in(".git"));
  server_->put(".gitignore", "ignored/\n");
  server_->put("ignored/.gitignore", "a{b\n[z-a\n");
  server_->put("ignored/file", "needle\n");
  server_->put("d/.gitignore", "[z-a]\n");
  server_->put("d/file", "needle\n");
  server_->put("closed", "needle\n", 0000);
  for (const bool ignored : {false, true}) {
    const Json found = search(Json{{"pattern", "needle"}, {"ignored", ignored}});
    EXPECT_EQ(found["total_files"], ignored ? 2 : 1) << found.dump();
    EXPECT_THAT(found["notes"].dump(), HasSubstr("closed"));
  }
  EXPECT_EQ(search(Json{{"pattern", "needle"}, {"path", "ignored"}})["total_files"], 1);
  EXPECT_EQ(search(Json{{"pattern", "nowhere"}})["total_files"], 0);
}

TEST_F(Searching, ATimeLimitShowsWhatWasFoundUntilThen) {
  // No literal to look for, and more states than any cache: minutes of work.
  std::string text;
  std::minstd_rand random(7);
  for (int i = 0; i < 30'000'000; ++i) {
    text += i % 1000 == 999 ? '\n' : static_cast<char>('a' + random() % 2);
  }
  server_->put("slow", text);
  const Json found = search(Json{{"pattern", "[ac][ab]{300}[d-z]"}, {"timeout_seconds", 1}});
  EXPECT_EQ(found["timed_out"], true) << found.dump().substr(0, 500);
  EXPECT_EQ(found["truncated"], true);
  EXPECT_THAT(found["notes"].dump(), HasSubstr("raise timeout_seconds"));
}

TEST_F(Searching, CountsAreWholeHoweverManyLinesMatch) {
  std::string text;
  for (int i = 0; i < 600'000; ++i) {
    text += "a\n";
  }
  server_->put("many", text);
  const Json found = search(Json{{"pattern", "a"}, {"show", "counts"}});
  EXPECT_EQ(found["total_lines"], 600'000) << found.dump().substr(0, 500);
  EXPECT_EQ(found["truncated"], false);
}

TEST_F(Searching, FileTypesHoldBesideGlobs) {
  server_->put("a.py", "needle\n");
  server_->put("a.cpp", "needle\n");
  const Json found = search(
      Json{{"pattern", "needle"}, {"globs", Json::array({"a*"})}, {"types", Json::array({"py"})}});
  EXPECT_EQ(found["total_files"], 1);
  EXPECT_EQ(found["files"][0]["path"], "a.py");
}

TEST_F(Searching, CrlfEndsALine) {
  server_->put("file", "one;\r\ntwo \r\n");
  EXPECT_EQ(search(Json{{"pattern", ";$"}})["total_lines"], 1);
  EXPECT_EQ(search(Json{{"pattern", "\\s$"}})["total_lines"], 1);
  EXPECT_EQ(search(Json{{"pattern", "\\r$"}})["total_lines"], 2);
  EXPECT_EQ(search(Json{{"pattern", "\\x0d$"}})["total_lines"], 2);
  server_->put("file", "C:\\repo\r\n");
  EXPECT_EQ(search(Json{{"pattern", "C:\\\\repo$"}})["total_lines"], 1);
}

TEST_F(Searching, LargeFilesAreSkippedBelowADirectory) {
  server_->put("large", std::string(5000, 'x') + "\nneedle\n");
  server_->put("small", "needle\n");
  const Json limited{{"pattern", "needle"}, {"max_file_bytes", 1000}};
  EXPECT_EQ(search(limited)["total_files"], 1);
  Json chosen = limited;
  chosen["globs"] = Json::array({"*"});
  EXPECT_EQ(search(chosen)["total_files"], 1);
  EXPECT_EQ(search(Json{{"pattern", "needle"}})["total_files"], 2);
}

TEST_F(Searching, APatternThatCannotBeIsRefusedInWordsForHere) {
  server_->put("file", "x\n");
  for (const char* pattern : {"a{", "(?=x)", "a\\n", "(((a{100}){100}){100}){10}"}) {
    const std::string text = fails("search_files", Json{{"pattern", pattern}});
    EXPECT_THAT(text, HasSubstr("the search cannot be made")) << pattern;
    EXPECT_THAT(text, Not(HasSubstr("--"))) << pattern;
  }
  EXPECT_EQ(search(Json{{"pattern", "a{"}, {"literal", true}})["total_files"], 0);
}

TEST_F(Searching, AFileThatCannotBeReadIsNotReplacedUnseen) {
  server_->put("closed", "secret text\n", 0200);
  const std::string text = fails("write_file", Json{{"path", "closed"}, {"content", "new\n"}});
  EXPECT_THAT(text, HasSubstr("cannot be read"));
  EXPECT_THAT(text, HasSubstr("replace_unread"));
  EXPECT_EQ(content("closed"), ::geteuid() == 0 ? "secret text\n" : "");
  const ToolAnswer replaced =
      works("write_file", Json{{"path", "closed"}, {"content", "new\n"}, {"replace_unread", true}});
  EXPECT_EQ(replaced.structured["undoable"], false);
  EXPECT_THAT(replaced.text, HasSubstr("could not be read"));
  EXPECT_THAT(replaced.text, Not(HasSubstr("too large")));
}

}  // namespace
}  // namespace bawn::test
