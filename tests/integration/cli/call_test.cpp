/// \file
/// `bawn call`: a person's way to a tool.
#include "bawn_program.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

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

  /// `script` in the workspace; `$0` is the program.
  ProgramResult run_shell(const std::string& script) { return run_script(workspace_, script); }
  [[nodiscard]] bool exists(const char* name) const {
    return std::filesystem::exists(workspace_.path() / name);
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

// What the tool's own schema refuses is as wrong as an unknown flag: nothing of the call ran.
TEST_F(Call, ArgumentsThatAreRefusedAreStatusTwo) {  // C-221
  const std::string deep = R"({"command":)" + std::string(10'000, '[');
  const struct {
    std::string arguments;
    const char* word;
  } cases[] = {
      {R"({"command":7})", "command: expected string, got 7"},
      {R"({"command":"touch ran","bogus":1})", "bogus"},
      {R"({"command":"touch ran","timeout_ms":-1})", "timeout_ms"},
      {R"({"command":"touch ran","command":"true"})", "duplicate member"},
      {R"({"command":"touch ran; \ud800"})", "command"},
      {R"({"command":"touch ran","timeout_ms":1e999})", "timeout_ms"},
      {R"({"command":"touch ran"} {})", "byte "},
      {R"(["touch ran"])", "object"},
      {deep, "nested deeper"},
  };
  for (const auto& [arguments, word] : cases) {
    const auto refused = call({"bash", "--arguments", arguments});
    EXPECT_EQ(refused.exit_code, 2) << arguments.substr(0, 80) << refused.err.substr(0, 300);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr(word));
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err.substr(0, 300);
  }
  EXPECT_FALSE(exists("ran"));
  EXPECT_EQ(call({"bash", "--arguments", R"({"command":"touch ran"})"}).exit_code, 0);
  EXPECT_TRUE(exists("ran"));
}

// Success without its output would be a lie.
TEST_F(Call, OutputThatCannotBeWrittenIsSaidAndIsNoSuccess) {  // C-221
  for (const char* words : {"", "exec --help", "exec echo lost", "exec --json echo lost"}) {
    const auto lost =
        run_shell("exec \"$0\" call --workspace . " + std::string(words) + " >/dev/full");
    EXPECT_EQ(lost.exit_code, 125) << words;
    EXPECT_THAT(lost.err, HasSubstr("cannot write standard output: No space left on device"));
    const auto closed = run_shell("exec \"$0\" call --workspace . " + std::string(words) + " >&-");
    EXPECT_EQ(closed.exit_code, 125) << words;
    EXPECT_THAT(closed.err, HasSubstr("cannot write standard output: Bad file descriptor"));
    EXPECT_EQ(run_shell("exec \"$0\" call --workspace . " + std::string(words)).exit_code, 0);
  }
}

}  // namespace
}  // namespace bawn::test
