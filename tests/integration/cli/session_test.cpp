/// \file
/// `bawn shell`, `bawn log` and `bawn reap` as a person uses them, without a terminal.

#include "bawn_program.hpp"
#include "support/requirements.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace bawn::test {
namespace {

class PersonTest : public ::testing::Test {
 protected:
  void SetUp() override { BAWN_REQUIRE("bash"); }

  ProgramResult bawn(std::vector<std::string> arguments, std::string input = {}) {
    arguments.insert(arguments.begin(), BAWN_PROGRAM);
    return run_program({.argv = std::move(arguments),
                        .input = std::move(input),
                        .directory = workspace_.path().string(),
                        .env = {{"BAWN_RUNTIME_DIR", state_.path().string()}},
                        .uid = 0});
  }

  TempDir workspace_;
  TempDir state_;
};

TEST_F(PersonTest, StateLastsFromLineToLineAndTheLastStatusIsOurs) {
  const auto run = bawn({"shell"}, "cd /usr\nx=inside\nfalse\necho \"$PWD $x $?\"\n(exit 5)\n");
  EXPECT_EQ(run.out, "/usr inside 1\n");
  EXPECT_EQ(run.exit_code, 5) << run.err;
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 5) << run.err;
  EXPECT_NE(run.err.find("[exit 1 "), std::string::npos) << run.err;
}

TEST_F(PersonTest, LinesAreGatheredUntilTheTextIsComplete) {
  const auto run = bawn({"shell", "--quiet"},
                        "for i in 1 2\ndo echo \"$i\"\ndone\ncat <<E\nhere\nE\necho 'a\nb'\n");
  EXPECT_EQ(run.out, "1\n2\nhere\na\nb\n");
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.exit_code, 0);
}

TEST_F(PersonTest, ATextThatNeverEndsRunsNothingAndGivesTwo) {
  const auto run = bawn({"shell"}, "echo first\necho 'open\n");
  EXPECT_EQ(run.out, "first\n");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("nothing ran"), std::string::npos) << run.err;
}

TEST_F(PersonTest, ExitEndsTheProgramWithItsStatus) {
  const auto run = bawn({"shell", "--quiet"}, "exit 7\necho never\n");
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.exit_code, 7);
}

TEST_F(PersonTest, LogListsWhatAServerAnsweredAndReapFindsNothing) {
  const auto call = bawn({"call", "bash", "--command", "exit 3"});
  ASSERT_NE(call.out.find("exit 3"), std::string::npos) << call.out << call.err;
  const auto log = bawn({"log", "--json"});
  ASSERT_EQ(std::ranges::count(log.out, '\n'), 1) << log.out << log.err;
  const auto line = contract::parse_json(log.out.substr(0, log.out.size() - 1));
  ASSERT_TRUE(line) << log.out;
  EXPECT_EQ((*line)["tool"], "bash");
  EXPECT_EQ((*line)["exit_code"], 3);
  EXPECT_FALSE((*line)["by"].get<std::string>().empty());
  EXPECT_EQ((*line)["record"]["session"], "main") << log.out;

  const auto reap = bawn({"reap"});
  EXPECT_EQ(reap.out, "nothing was left behind\n");
  EXPECT_EQ(reap.exit_code, 0) << reap.err;
}

}  // namespace
}  // namespace bawn::test
