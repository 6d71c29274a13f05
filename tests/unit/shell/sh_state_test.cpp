#include "sh_state.hpp"

#include "sh_script.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bawn::shell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr const char* kDash =
    "#options\nset -o errexit\nset +o noglob\nset -o noclobber\nset -o vi\n"
    "#variables\nA='it'\"'\"'s\n#exports\n'\nBAWN_CALL='x'\nPPID='1'\n__b_began='1'\n"
    "__b_directory='/a b'\n__b_missing=''\n"
    "#exports\nexport A='it'\"'\"'s\n#exports\n'\nexport U\n#readonly\nreadonly R='5'\n"
    "#aliases\nll='ls -l'\n#umask\n0027\n#functions\n#end\n";

TEST(ShState, IsReadFromWhatTheShellPrinted) {
  const auto state = parse_sh_state(kDash);
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->began);
  EXPECT_EQ(state->directory, "/a b");
  EXPECT_FALSE(state->directory_missing);
  EXPECT_THAT(state->variables, ElementsAre(Pair("A", "'it'\"'\"'s\n#exports\n'")));
  EXPECT_THAT(state->exported, ElementsAre("A", "U"));
  EXPECT_THAT(state->read_only, ElementsAre("R"));
  EXPECT_THAT(state->aliases, ElementsAre(Pair("ll", "'ls -l'")));
  EXPECT_THAT(state->options, ElementsAre("errexit", "noclobber"));
  EXPECT_THAT(state->poisonous(), ElementsAre("errexit"));
  EXPECT_EQ(state->mask, "0027");
}

TEST(ShState, IsNoneWhenItWasCutShort) {
  const std::string whole(kDash);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_sh_state(whole.substr(0, length))) << length;
  }
}

TEST(ShState, WhatOtherShellsPrintIsReadToo) {
  const auto state = parse_sh_state(
      "#options\n#variables\nARRAY=([0]=\"a\")\nBARE=x\nDOLLAR=$'a\\'b\\nc'\nDOUBLE=\"q\\\"\nr\"\n"
      "#exports\ndeclare -x MORE=\"1\"\nexport BARE\n#readonly\nreadonly -a ARRAY=([0]=\"a\")\n"
      "typeset -r BARE\n#aliases\nalias a='b'\n#umask\n"
      "0022\n#functions\nf () \n{ \n    :\n}\n#end\n");
  ASSERT_TRUE(state);
  EXPECT_THAT(state->variables, ElementsAre(Pair("BARE", "x"), Pair("DOLLAR", "$'a\\'b\\nc'"),
                                            Pair("DOUBLE", "\"q\\\"\nr\"")));
  EXPECT_THAT(state->exported, ElementsAre("BARE", "MORE"));
  EXPECT_THAT(state->read_only, ElementsAre("ARRAY", "BARE"));
  EXPECT_THAT(state->aliases, ElementsAre(Key("a")));
  EXPECT_EQ(state->functions, "f () \n{ \n    :\n}\n");
}

TEST(ShState, WordsLoseTheirQuotes) {
  EXPECT_EQ(unquoted("'a b'"), "a b");
  EXPECT_EQ(unquoted("'it'\"'\"'s'"), "it's");
  EXPECT_EQ(unquoted("a\\ b\"c\\\"\""), "a bc\"");
  EXPECT_THAT(unquoted(""), IsEmpty());
}

TEST(ShScript, BeginsWithTheStateAndNamesTheRefuge) {
  const auto state = parse_sh_state(kDash);
  ASSERT_TRUE(state);
  const std::string text = sh_script({.text = "/r/t",
                                      .left_behind = "/w/q",
                                      .refuge = "/r/",
                                      .directory = {},
                                      .variables = {{"V", "it's"}},
                                      .last_status = 7},
                                     &*state);
  EXPECT_THAT(text, HasSubstr("cd -- '/a b' 2>/dev/null || cd -- '/r/'\n"));
  EXPECT_THAT(text, HasSubstr("export V='it'\\''s'\n"));
  EXPECT_THAT(text, HasSubstr(">>'/w/q'"));
  EXPECT_THAT(text, Not(HasSubstr("return 7"))) << "which errexit would take for a failure";
}

TEST(ShScript, AStateThatEndsTheShellIsTold) {
  const test::TempDir base;
  const std::string left = (base.path() / "left").string();
  const std::string text = base.write("text", "echo ran\n");
  ShState state;
  state.directory = base.path();
  state.variables = {{"PATH", "/usr/bin:/bin"}};
  const auto taken_on = [&] {
    const std::string script = base.write(
        "script",
        sh_script(
            {.text = text, .left_behind = left, .refuge = "/", .directory = {}, .variables = {}},
            &state));
    return test::run_program({.argv = {"/bin/sh", script}, .directory = "/"});
  };
  EXPECT_EQ(taken_on().out, "ran\n") << "the control";
  EXPECT_TRUE(parse_sh_state(test::read_file(left))->began);
  std::filesystem::remove(left);
  state.functions = "readonly PPID; PPID=1\n";
  EXPECT_EQ(taken_on().out, "");
  const auto refused = parse_sh_state(test::read_file(left));
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->began);
}

}  // namespace
}  // namespace bawn::shell
