/// \file
/// `bawn call`: a person's way to a tool.
#include "bawn_program.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::test {
namespace {

using testing::HasSubstr;

class Call : public testing::Test {
 protected:
  ProgramResult call(std::vector<std::string> words) {
    std::vector<std::string> argv = {BAWN_PROGRAM, "call", "--workspace",
                                     workspace_.path().string()};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_program(
        {.argv = argv, .input = {}, .directory = workspace_.path().string(), .env = {}, .uid = 0});
  }

 private:
  TempDir workspace_;
};

TEST_F(Call, ListsTheToolsAndHelpsWithEach) {  // C-220
  const auto list = call({});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("bash_output"));
  const auto help = call({"exec", "--help"});
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_THAT(help.out, HasSubstr("usage: bawn call exec [argv...]"));
}

TEST_F(Call, RunsAToolOnPositionalWords) {  // C-221
  const auto exec = call({"exec", "printf", "%s-%s", "--a", "b"});
  EXPECT_EQ(exec.exit_code, 0) << exec.err;
  EXPECT_THAT(exec.out, HasSubstr("--a-b"));
  const auto bash = call({"bash", "--json", "--timeout-ms", "60000", "echo $((6*7)); exit 3"});
  EXPECT_EQ(bash.exit_code, 0) << bash.err;
  const auto result = contract::parse_json(bash.out);
  ASSERT_TRUE(result) << bash.out;
  EXPECT_EQ(result->at("structured").at("exit_code"), 3);
  EXPECT_THAT(result->at("output").get<std::string>(), HasSubstr("42"));
}

TEST_F(Call, AFailingToolIsStatusOneAndWrongWordsAreTwo) {  // C-221
  const auto failed = call({"bash_kill", "--call", "no-such-call"});
  EXPECT_EQ(failed.exit_code, 1) << failed.out;
  EXPECT_THAT(failed.err, HasSubstr("Error: "));
  const auto refused = call({"bash", "--timeout-ms", "soon"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--timeout-ms needs a value of type integer"));
  const auto unknown = call({"no_such_tool"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no tool \"no_such_tool\""));
}

}  // namespace
}  // namespace bawn::test
