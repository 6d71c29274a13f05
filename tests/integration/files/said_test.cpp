/// \file
/// What a result or a refusal says: losses that nobody asked for, and why something cannot be.
#include "tool_fixture.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;
using contract::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Said : public FileToolFixture {
 protected:
  ToolAnswer write(const std::string& path, const std::string& content,
                   Json more = Json::object()) {
    more["path"] = path;
    more["content"] = content;
    return works("write_file", more);
  }
  std::string no_edit(const std::string& old_string) {
    return fails("edit_file",
                 Json{{"path", "file"}, {"old_string", old_string}, {"new_string", "other"}});
  }
};

TEST_F(Said, AnEncodingOrLineEndsThatAWholeWriteChanges) {
  const std::string utf16(
      "\xFF\xFE"
      "a\0\r\0\n\0",
      8);
  for (const auto& [old, content, note] :
       {std::tuple{std::string("\xEF\xBB\xBFone\n"), "two\n", "was utf-8-bom and is utf-8 now"},
        std::tuple{utf16, "two\n", "was utf-16le and is utf-8 now, the line ends were crlf"},
        std::tuple{std::string("gr\xFC\xDF"
                               "e\n"),
                   "gr\xC3\xBC\xC3\x9F"
                   "e\n",
                   "was latin-1 and is utf-8 now"},
        std::tuple{std::string("one\r\ntwo\r\n"), "two\n", "line ends were crlf and are lf now"},
        std::tuple{std::string("one\n"), "one\ntwo\r\n", "line ends were lf and are mixed now"}}) {
    server_->put("file", old);
    EXPECT_THAT(write("file", content).structured["notes"].dump(), HasSubstr(note));
    server_->put("file", old);
    const ToolAnswer kept =
        write("file", content, Json{{"encoding", "keep"}, {"line_ending", "keep"}});
    EXPECT_THAT(kept.text, Not(HasSubstr(" now;"))) << note;
  }
  for (const auto& [old, content] :
       {std::pair{std::string("plain\n"), "gr\xC3\xBC\n"},
        std::pair{std::string("gr\xFC\n"), "plain\n"}, std::pair{std::string(), "one\r\n"},
        std::pair{std::string("\0\1\2", 3), "text\n"}, std::pair{std::string("no end"), "one\n"}}) {
    server_->put("file", old);
    EXPECT_THAT(write("file", content).structured["notes"].dump(), Not(HasSubstr(" now;")))
        << content;
  }
}

TEST_F(Said, ThatALargeFileIsLost) {
  server_->put("large", "x");
  fs::resize_file(server_->in("large"), 65U * 1024 * 1024);
  const ToolAnswer answer = write("large", "small\n");
  EXPECT_EQ(answer.structured["undoable"], false);
  EXPECT_THAT(answer.text, HasSubstr("cannot be undone: the old content of 68157440 bytes"));
}

TEST_F(Said, WhyATextWithUnwritableCharactersIsNotFound) {
  server_->put("file", "first\nstop \x1B[31mred\x07 here\nthird\n");
  EXPECT_THAT(no_edit("stop [31mred here"),
              HasSubstr("control or invisible characters (U+0007, U+001B)"));
  EXPECT_THAT(no_edit("stop \xEF\xBF\xBD[31mred\xEF\xBF\xBD here"), HasSubstr("U+001B"));
  server_->put("file", "many l\xC3\xA4tters \xC3\xB6 and one b\xFFyte\nx\n");
  EXPECT_THAT(no_edit("and one b\xEF\xBF\xBDyte"), HasSubstr("bytes that are not UTF-8"));
  server_->put("file", "zero\xE2\x80\x8Bwidth\n");
  EXPECT_THAT(no_edit("zerowidth"), HasSubstr("U+200B"));
  server_->put("file", "zerowidth\n");
  EXPECT_THAT(no_edit("zero\xE2\x80\x8Bwidth"), HasSubstr("old_string has control or invisible"));
  EXPECT_THAT(no_edit("\xEF\xBF\xBD"), HasSubstr("it has U+FFFD, which is shown for bytes"));
  // Given as they are they can be replaced.
  server_->put("file", "a\x1B[31mb\n");
  works("edit_file", Json{{"path", "file"}, {"old_string", "\x1B[31m"}, {"new_string", ""}});
  EXPECT_EQ(content("file"), "ab\n");
}

TEST_F(Said, InWhatShortTextsDiffer) {
  server_->put("file", "a\r\nb\nc\n");
  EXPECT_THAT(no_edit("a\nb"), HasSubstr("only line ends differ: the file has CRLF there"));
  server_->put("file", "}\n\n\n{\n");
  EXPECT_THAT(no_edit("}\r\n\r\n"), HasSubstr("only line ends differ: old_string has CRLF"));
  server_->put("file", "x\n\r\n\r\ny\n");
  EXPECT_THAT(no_edit("\n\n\n"), HasSubstr("only line ends differ"));
  server_->put("file", "\tx\n");
  EXPECT_THAT(no_edit("  x"), HasSubstr("the file has tabs where"));
  server_->put("file", "if (a  == b) {\n");
  EXPECT_THAT(no_edit("a == b"), HasSubstr("only the amount of white space differs"));
}

TEST_F(Said, ThatASlashNamesADirectory) {
  server_->put("d/file", "old\n");
  EXPECT_THAT(fails("write_file", Json{{"path", "new/"}, {"content", "x"}, {"make_parents", true}}),
              HasSubstr("ends with a slash"));
  EXPECT_THAT(
      fails("edit_file", Json{{"path", "d/file/"}, {"old_string", "old"}, {"new_string", "x"}}),
      HasSubstr("ends with a slash"));
  EXPECT_THAT(fails("read_file", Json{{"path", "d/file/"}}), HasSubstr("ends with a slash"));
  EXPECT_THAT(fails("read_file", Json{{"path", "d/"}}), HasSubstr("is a directory; list_files"));
  EXPECT_THAT(fails("apply_patch", Json{{"patch",
                                         "*** Begin Patch\n*** Add File: new/\n+x\n*** End "
                                         "Patch\n"}}),
              HasSubstr("patch line 2: new/: a name that ends with a slash"));
  EXPECT_FALSE(fs::exists(server_->in("new")));
}

TEST_F(Said, ThatAMissingDirectoryCannotBeLeft) {
  const Json call{{"path", "missing/../file"}, {"content", "x"}};
  EXPECT_THAT(fails("write_file", call), HasSubstr("make_parents makes missing directories"));
  Json with_parents = call;
  with_parents["make_parents"] = true;
  EXPECT_THAT(fails("write_file", with_parents), HasSubstr("cannot be left by \"..\""));
  EXPECT_TRUE(names().empty());
}

TEST_F(Said, ThatTwoWaysToSayWhatToReadAreOneTooMany) {
  server_->put("file", "1\n2\n3\n");
  const Json ranges = Json::array({Json{{"offset", 2}}});
  EXPECT_THAT(fails("read_file", Json{{"path", "file"}, {"ranges", ranges}, {"offset", 3}}),
              HasSubstr("either ranges, or offset and limit"));
  EXPECT_THAT(fails("read_file", Json{{"path", "file"}, {"ranges", ranges}, {"byte_offset", 3}}),
              HasSubstr("either lines"));
  EXPECT_THAT(fails("read_file", Json{{"path", "file"}, {"limit", 1}, {"byte_count", 3}}),
              HasSubstr("either lines"));
  works("read_file", Json{{"path", "file"}, {"ranges", ranges}});
  works("read_file", Json{{"path", "file"}, {"limit", 1}});
  works("read_file", Json{{"path", "file"}, {"byte_count", 3}});
}

TEST_F(Said, ThatAChangeWasUndoneAlready) {
  const std::string call = changes("write_file", Json{{"path", "file"}, {"content", "x\n"}});
  const std::string undo = changes("undo_change", Json{{"call", call}});
  const std::string again = fails("undo_change", Json{{"call", call}});
  EXPECT_THAT(again, HasSubstr(call + " was undone already, by " + undo));
  EXPECT_THAT(fails("undo_change", Json{{"call", "change-99"}}), HasSubstr("no change change-99"));
}

TEST_F(Said, ThatASecretIsHiddenAndNotThatItIsADevice) {
  const std::string secret = server_->secret();
  for (const auto& [tool, arguments] :
       {std::pair{"read_file", Json{{"path", secret}}},
        std::pair{"edit_file", Json{{"path", secret}, {"old_string", "o"}, {"new_string", "x"}}},
        std::pair{"write_file", Json{{"path", secret}, {"content", "x"}}},
        std::pair{"search_files", Json{{"path", secret}, {"pattern", "x"}}}}) {
    const std::string text = fails(tool, arguments);
    EXPECT_THAT(text, HasSubstr("secrets: ")) << tool;
    EXPECT_THAT(text, Not(HasSubstr("device"))) << tool;
  }
  EXPECT_THAT(fails("read_file", Json{{"path", "/dev/null"}}), HasSubstr("device"));
}

TEST_F(Said, WhatForceDoesNotOverrule) {
  server_->put("from", "text\n");
  const std::string renamed = changes(
      "apply_patch",
      Json{{"patch", "*** Begin Patch\n*** Update File: from\n*** Move to: to\n*** End Patch\n"}});
  server_->put("from", "another\n");
  const Json forced{{"call", renamed}, {"force", true}};
  EXPECT_THAT(fails("undo_change", forced), HasSubstr("is there already"));
  EXPECT_EQ(content("from"), "another\n");
  fs::remove(server_->in("from"));
  server_->put("to", "changed since\n");
  EXPECT_THAT(fails("undo_change", Json{{"call", renamed}}), HasSubstr("has changed since"));
  works("undo_change", forced);
  EXPECT_EQ(content("from"), "text\n");
  EXPECT_THAT(names(), ElementsAre("from"));
  const std::string written = changes("write_file", Json{{"path", "made"}, {"content", "x\n"}});
  fs::remove(server_->in("made"));
  fs::create_directory(server_->in("made"));
  EXPECT_THAT(fails("undo_change", Json{{"call", written}, {"force", true}}),
              HasSubstr("is a directory"));
}

}  // namespace
}  // namespace bawn::test
