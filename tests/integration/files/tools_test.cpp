/// \file
/// The file tools end to end: over `bawn mcp`, behind the wall.
#include "tool_fixture.hpp"

#include <cstdlib>
#include <random>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;
using contract::Json;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

class FileTools : public FileToolFixture {};

TEST_F(FileTools, ReadTellsWhatATextIsMadeOf) {
  server_->put("crlf", "\xEF\xBB\xBFone\r\ntwo");
  const ToolAnswer answer = works("read_file", Json{{"path", "crlf"}});
  EXPECT_THAT(answer.text, HasSubstr("     1\tone\n     2\ttwo\n"));
  EXPECT_EQ(answer.structured["encoding"], "utf-8-bom");
  EXPECT_EQ(answer.structured["line_ending"], "crlf");
  EXPECT_EQ(answer.structured["final_newline"], false);
  EXPECT_EQ(answer.structured["total_lines"], 2);
}

TEST_F(FileTools, ReadShowsRangesAndBytes) {
  server_->put("lines", "1\n2\n3\n4\n5\n");
  const Json two = Json::array({Json{{"offset", 4}}, Json{{"offset", 1}, {"limit", 2}}});
  const ToolAnswer ranges =
      works("read_file", Json{{"path", "lines"}, {"numbered", false}, {"ranges", two}});
  ASSERT_EQ(ranges.structured["parts"].size(), 2U);
  EXPECT_EQ(ranges.structured["parts"][0]["text"], "4\n5\n");
  EXPECT_EQ(ranges.structured["parts"][1]["text"], "1\n2\n");
  server_->put("binary", "\x7F\x45LF\0\1\2"s);
  const ToolAnswer binary = works("read_file", Json{{"path", "binary"}});
  EXPECT_EQ(binary.structured["kind"], "binary");
  EXPECT_THAT(binary.text, HasSubstr("an ELF program"));
  EXPECT_EQ(works("read_file", Json{{"path", "binary"}, {"byte_offset", 1}, {"byte_count", 3}})
                .structured["base64"],
            "RUxG");
  const ToolAnswer behind =
      works("read_file", Json{{"path", "binary"}, {"byte_offset", ~std::uint64_t{0}}});
  EXPECT_EQ(behind.structured["base64"], "");
}

TEST_F(FileTools, ReadShowsPicturesThatAreWholeAndNoOthers) {
  const std::string png =
      "\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\x05\0\0\0\x07\x08\2\0\0\0crc!"s
      "\0\0\0\0IEND\xAE\x42\x60\x82"s;
  server_->put("picture", png);
  const ToolAnswer picture = works("read_file", Json{{"path", "picture"}});
  EXPECT_EQ(picture.structured["kind"], "image");
  EXPECT_THAT(picture.text, HasSubstr("a PNG image of 5 x 7 pixels"));
  server_->put("part", png.substr(0, png.size() - 1));
  const ToolAnswer part = works("read_file", Json{{"path", "part"}});
  EXPECT_EQ(part.structured["kind"], "binary");
  EXPECT_THAT(part.text, HasSubstr("damaged or not complete: a PNG image"));
  server_->put("wide", std::string(png).replace(18, 2, "\xFF\xFF"));
  EXPECT_THAT(works("read_file", Json{{"path", "wide"}}).text, HasSubstr("too large to be shown"));
  server_->put("about.txt", "GIF89a is a format\n");
  EXPECT_EQ(works("read_file", Json{{"path", "about.txt"}}).structured["kind"], "text");
}

TEST_F(FileTools, ADiffOfAnotherEncodingCanBeRead) {
  server_->put("latin",
               "gr\xF6\xDF"
               "e\nstra\xDF"
               "e\n");
  const ToolAnswer edited =
      works("edit_file", Json{{"path", "latin"}, {"old_string", "größe"}, {"new_string", "maß"}});
  EXPECT_EQ(content("latin"),
            "ma\xDF\nstra\xDF"
            "e\n");
  EXPECT_THAT(edited.text, HasSubstr("-größe\n+maß\n straße\n"));
}

TEST_F(FileTools, WriteKeepsModeAndGuardsWhatWasNotSeen) {
  server_->put("script", "old\n", 0755);
  const std::string etag = works("read_file", Json{{"path", "script"}}).structured["etag"];
  EXPECT_THAT(fails("write_file", Json{{"path", "script"}, {"content", "x"}, {"if_absent", true}}),
              HasSubstr("exists already"));
  works("write_file", Json{{"path", "script"}, {"content", "new\n"}, {"if_etag", etag}});
  EXPECT_EQ(content("script"), "new\n");
  EXPECT_EQ(mode_of("script"), 0755U);
  EXPECT_THAT(fails("write_file", Json{{"path", "script"}, {"content", "x"}, {"if_etag", etag}}),
              HasSubstr("has changed since"));
  EXPECT_THAT(fails("write_file", Json{{"path", "no/such/dir"}, {"content", "x"}}),
              HasSubstr("make_parents"));
  works("write_file",
        Json{{"path", "a/b/c"}, {"content", "x"}, {"make_parents", true}, {"mode", "640"}});
  EXPECT_EQ(mode_of("a/b/c"), 0640U);
  for (const auto& entry : fs::directory_iterator(server_->in(""))) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("bawn"))) << "litter";
  }
}

TEST_F(FileTools, EditIsExactAndExplainsAMiss) {
  server_->put("code", "if x:\n\treturn 1\n");
  EXPECT_THAT(
      fails("edit_file",
            Json{{"path", "code"}, {"old_string", "if x:\n    return 1"}, {"new_string", "y"}}),
      HasSubstr("tabs"));
  const ToolAnswer edited = works(
      "edit_file", Json{{"path", "code"}, {"old_string", "return 1"}, {"new_string", "return 2"}});
  EXPECT_THAT(edited.text, HasSubstr("-\treturn 1\n+\treturn 2\n"));
  EXPECT_EQ(edited.structured["files"][0]["change"], "edited");
  const Json two = Json::array({Json{{"old_string", "if"}, {"new_string", "while"}},
                                Json{{"old_string", "missing"}, {"new_string", "z"}}});
  EXPECT_THAT(fails("edit_file", Json{{"path", "code"}, {"edits", two}}), HasSubstr("edit 2 of 2"));
  EXPECT_EQ(content("code"), "if x:\n\treturn 2\n");
}

TEST_F(FileTools, APatchIsAppliedWholeOrNotAtAll) {
  server_->put("a", "one\ntwo\n");
  server_->put("b", "x\n", 0755);
  const std::string patch =
      "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
      "diff --git a/b b/c/d\nsimilarity index 100%\nrename from b\nrename to c/d\n"
      "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n";
  EXPECT_EQ(
      works("apply_patch", Json{{"patch", patch}, {"check_only", true}}).structured["applied"],
      false);
  EXPECT_EQ(content("a"), "one\ntwo\n");
  const ToolAnswer done = works("apply_patch", Json{{"patch", patch}});
  EXPECT_EQ(content("a"), "one\nTWO\n");
  EXPECT_EQ(content("c/d"), "x\n");
  EXPECT_EQ(mode_of("c/d"), 0755U);
  EXPECT_FALSE(fs::exists(server_->in("b")));
  works("undo_change", Json{{"call", done.structured["call"]}});
  EXPECT_EQ(content("a"), "one\ntwo\n");
  EXPECT_EQ(content("b"), "x\n");
  EXPECT_EQ(mode_of("b"), 0755U);
  EXPECT_FALSE(fs::exists(server_->in("n")));
  const std::string more = patch + "--- a/gone\n+++ b/gone\n@@ -1 +1 @@\n-a\n+b\n";
  EXPECT_THAT(fails("apply_patch", Json{{"patch", more}}),
              HasSubstr("patch line 18: gone: no such file"));
  EXPECT_EQ(content("a"), "one\ntwo\n");
}

TEST_F(FileTools, ChangesOfOneFileAreUndoneOneAfterTheOther) {
  server_->put("a", "1\n");
  std::vector<Json> calls;
  for (const char* text : {"2\n", "3\n", "4\n"}) {
    calls.push_back(works("write_file", Json{{"path", "a"}, {"content", text}}).structured["call"]);
    // Whoever makes a file may get the number of the one that was replaced.
    server_->put("beside" + std::to_string(calls.size()), "x\n");
  }
  for (const char* old : {"3\n", "2\n", "1\n"}) {
    server_->put(std::string("more") + old[0], "x\n");
    works("undo_change", Json{{"call", calls.back()}});
    EXPECT_EQ(content("a"), old);
    calls.pop_back();
  }
}

TEST_F(FileTools, UndoRefusesWhatChangedSinceUnlessForced) {
  server_->put("a", "1\n");
  const Json first =
      works("write_file", Json{{"path", "a"}, {"content", "2\n"}}).structured["call"];
  works("write_file", Json{{"path", "a"}, {"content", "3\n"}});
  EXPECT_THAT(fails("undo_change", Json{{"call", first}}), HasSubstr("changed since"));
  works("undo_change", Json{{"call", first}, {"force", true}});
  EXPECT_EQ(content("a"), "1\n");
  EXPECT_THAT(fails("undo_change", Json{{"call", first}}), HasSubstr("was undone already"));
  EXPECT_THAT(fails("undo_change", Json{{"call", "nonsense"}}), HasSubstr("no change nonsense"));
}

TEST_F(FileTools, EditThenUndoGivesTheSameFile) {
  std::mt19937 random(21);
  const auto pick = [&](int most) { return std::uniform_int_distribution<>(0, most)(random); };
  for (int round = 0; round < 60; ++round) {
    const std::string end = pick(1) == 0 ? "\n" : "\r\n";
    std::string bytes = pick(4) == 0 ? "\xEF\xBB\xBF" : "";
    for (int line = pick(30); line >= 0; --line) {
      bytes += "line " + std::to_string(pick(9)) + (pick(5) == 0 ? " \xE9 latin" : "") +
               (pick(5) == 0 ? " \xC3\xA9" : "") + end;
    }
    bytes += "unique marker" + (pick(1) == 0 ? end : ""s);
    server_->put("file", bytes, static_cast<unsigned>(0600 | pick(077)));
    struct stat before{};
    ASSERT_EQ(stat(server_->in("file").c_str(), &before), 0);
    const ToolAnswer edited = works("edit_file", Json{{"path", "file"},
                                                      {"old_string", "unique marker"},
                                                      {"new_string", "changed\nin two lines"}});
    ASSERT_NE(content("file"), bytes);
    works("undo_change", Json{{"call", edited.structured["call"]}});
    struct stat after{};
    ASSERT_EQ(stat(server_->in("file").c_str(), &after), 0);
    ASSERT_EQ(content("file"), bytes);
    EXPECT_EQ(before.st_mode, after.st_mode);
    EXPECT_EQ(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
    EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    EXPECT_EQ(before.st_uid, after.st_uid);
  }
}

void make_tree(const FileServer& server) {
  std::mt19937 random(4);
  const auto pick = [&](int most) { return std::uniform_int_distribution<>(0, most)(random); };
  server.put(".gitignore", "*.o\nbuild/\n*.log\n!keep.log\n");
  server.put("src/.gitignore", "/deep/*.md\n");
  server.put(".git/info/exclude", "docs/b.*\n");
  server.put(".git/HEAD", "ref: refs/heads/main\n");
  server.put(".git/inside", "needle\n");
  for (const char* directory : {"", "src/", "src/deep/", "build/", "docs/", ".conf/"}) {
    for (const char* name : {"a.txt", "b.log", "c.o", "d.cpp", ".hidden", "keep.log", "e.md"}) {
      std::string text;
      for (int line = pick(6); line >= 0; --line) {
        text += pick(2) == 0 ? "a needle here\n" : "straw " + std::to_string(pick(99)) + "\n";
      }
      if (pick(4) != 0) {
        server.put(directory + std::string(name), pick(8) == 0 ? text + "\0"s : text);
      }
    }
  }
}

TEST(FileFinding, RgAndTheWalkGiveTheSameAnswers) {
  BAWN_REQUIRE("landlock");
  FileServer with_rg(kAllLayers);
  const std::string path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  setenv("PATH", "/nonexistent", 1);             // NOLINT(concurrency-mt-unsafe)
  FileServer without(kAllLayers);
  setenv("PATH", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  ASSERT_TRUE(with_rg.started() && without.started());
  if (with_rg.call("list_files", Json::object()).structured.value("engine", "") != "rg") {
    GTEST_SKIP() << "needs ripgrep in the session's PATH";
  }
  make_tree(with_rg);
  make_tree(without);
  const std::vector<std::pair<std::string, std::string>> questions = {
      {"list_files", R"({})"},
      {"list_files", R"({"ignored":true})"},
      {"list_files", R"({"hidden":false,"format":"tree"})"},
      {"list_files", R"({"depth":1})"},
      {"list_files", R"({"globs":["*.{cpp,md}","!src/**"]})"},
      {"list_files", R"({"path":"src"})"},
      {"list_files", R"({"limit":3})"},
      {"search_files", R"({"pattern":"needle"})"},
      {"search_files", R"({"pattern":"NEEDLE","ignore_case":true,"context":1})"},
      {"search_files", R"({"pattern":"straw [0-9]+","before":2,"path":"src"})"},
      {"search_files", R"({"pattern":"nee.le","literal":true})"},
      {"search_files", R"({"pattern":"needle","show":"counts","ignored":true})"},
      {"search_files", R"({"pattern":"needle","show":"files","globs":["*.cpp"]})"},
      {"search_files", R"({"pattern":"eedl","word":true})"},
      {"search_files", R"({"pattern":"a","types":["cpp","md"],"limit":4})"},
      {"search_files", R"({"pattern":"needle","path":"src/a.txt"})"},
      {"search_files", R"({"pattern":"^$"})"},
  };
  int found = 0;
  for (const auto& [tool, arguments] : questions) {
    Json one = with_rg.call(tool, *contract::parse_json(arguments)).structured;
    Json other = without.call(tool, *contract::parse_json(arguments)).structured;
    EXPECT_EQ(one.value("engine", ""), "rg") << arguments;
    EXPECT_EQ(other.value("engine", ""), "walk") << arguments;
    EXPECT_THAT(other["notes"].dump(), HasSubstr("no rg"));
    for (Json* answer : {&one, &other}) {
      answer->erase("engine");
      answer->erase("notes");
      answer->erase("root");
    }
    EXPECT_EQ(one.dump(1), other.dump(1)) << tool << arguments;
    found += one.value("total_files", 0);
  }
  EXPECT_GT(found, 60) << "the tree is too small to tell";
}

}  // namespace
}  // namespace bawn::test
