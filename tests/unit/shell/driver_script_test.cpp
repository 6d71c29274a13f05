#include "driver_script.hpp"

#include <gmock/gmock.h>

namespace bawn::shell {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ShellQuote, MakesOneWordThatStandsForItself) {
  EXPECT_EQ(shell_quote("plain"), "'plain'");
  EXPECT_EQ(shell_quote("it's $x `y`"), "'it'\\''s $x `y`'");
  EXPECT_EQ(shell_quote(""), "''");
}

TEST(DriverScript, NamesItsPlacesQuoted) {
  const std::string script = driver_script({.report = "/a dir/w/report",
                                            .exit_state = "/a dir/w/x",
                                            .start_nonce = "n0",
                                            .snapshot = "",
                                            .directory = "/it's"});
  EXPECT_THAT(script, HasSubstr(" >'/a dir/w/report'\n"));
  EXPECT_THAT(script, HasSubstr("|| builtin cd -- '/it'\\''s'\n"));
  EXPECT_THAT(script, Not(HasSubstr("builtin . "))) << "no state to restore";
}

TEST(DriverScript, RestoresTheStateBeforeItDefinesItsOwn) {
  const std::string script = driver_script({.report = "/w/report",
                                            .exit_state = "/w/x",
                                            .start_nonce = "n0",
                                            .snapshot = "/r/state",
                                            .directory = "/"});
  EXPECT_LT(script.find("trap __bx EXIT"), script.find("/r/state"));
  EXPECT_LT(script.find("/r/state"), script.find("__bs()"));
}

TEST(StepLine, NamesItsPlacesQuoted) {
  EXPECT_EQ(step_line({.nonce = "n1",
                       .marker = "m.7",
                       .text = "/a dir/r/t",
                       .input = "/dev/null",
                       .output = "/a dir/w/o",
                       .error = "/it's"}),
            "__bk= __bq= BAWN_CALL='m.7' __bi=n1;\\. '/a dir/r/t' <'/dev/null' >'/a dir/w/o' "
            "2>'/it'\\''s';__bd");
}

TEST(UsableState, LosesWhatWouldKeepADriverFromItsNames) {
  EXPECT_EQ(usable_state("declare -r __bz=\"1\"\ndeclare -ar PROMPT_COMMAND=([0]=\"x\")\n"
                         "declare -rx PWD=\"/\"\ndeclare -rx MINE=\"1\"\ndeclare -r IFS=\"x\"\n"
                         "set -o onecmd\n# end of state\n"),
            "declare -a PROMPT_COMMAND=([0]=\"x\")\ndeclare -x PWD=\"/\"\n"
            "declare -rx MINE=\"1\"\ndeclare -- IFS=\"x\"\n# end of state\n");
}

}  // namespace
}  // namespace bawn::shell
