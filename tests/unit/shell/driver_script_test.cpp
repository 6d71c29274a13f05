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
                                            .later = "",
                                            .directory = "/it's"});
  EXPECT_THAT(script, HasSubstr(" >'/a dir/w/report'\n"));
  EXPECT_THAT(script, HasSubstr("|| builtin cd -- '/it'\\''s'\n"));
  EXPECT_THAT(script, Not(HasSubstr("builtin . "))) << "no state to restore";
}

TEST(DriverScript, RestoresWhatWouldDisturbItLast) {
  const std::string script = driver_script({.report = "/w/report",
                                            .exit_state = "/w/x",
                                            .start_nonce = "n0",
                                            .later = "/r/later",
                                            .directory = "/"});
  EXPECT_LT(script.find("trap __bx EXIT"), script.find("/r/later"));
  EXPECT_LT(script.find("__bs()"), script.find("/r/later"));
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
                         "declare -- PS1=\"\\$(sleep 9)\"\n# end of state\n"),
            "declare -x PWD=\"/\"\ndeclare -rx MINE=\"1\"\ndeclare -- IFS=\"x\"\n");
}

TEST(UsableState, TurnsOptionsOnLastThatWouldSpoilTheRest) {
  EXPECT_EQ(usable_state("set -o errexit\nset +o noglob\nset -o keyword\nset -o vi\n"
                         "set -o onecmd\ndeclare -- A=\"1\"\nf () \n{ \n    cat <<E\n"
                         "set -o vi\nE\n\n}\n# later\nalias if='x'\n# end of state\n"),
            "set +o noglob\ndeclare -- A=\"1\"\nf () \n{ \n    cat <<E\nset -o vi\nE\n\n}\n"
            "# later\nalias if='x'\nset -o errexit\nset -o keyword\n");
}

TEST(StateParts, AreDividedAtTheMark) {
  const auto parts = parts_of_state("a\n# later\nb\n");
  EXPECT_EQ(parts.first, "a\n");
  EXPECT_EQ(parts.later, "# later\nb\n");
  EXPECT_EQ(parts_of_state("a\n").later, "");
}

}  // namespace
}  // namespace bawn::shell
