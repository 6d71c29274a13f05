/// \file
/// What `bawn run` and `bawn mcp` refuse before anything starts: exit status 125, one sentence that
/// names what is wrong, and nothing left behind.

#include "mcp_server.hpp"
#include "support/run_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>

namespace bawn::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Refusal {
  const char* name;
  std::vector<std::string>
      options;  ///< "{state}" stands for the folder that holds bawn's own state
  std::string says;
};

// For the names that ctest lists.
void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class RefusedStart : public testing::TestWithParam<std::tuple<const char*, Refusal>> {};

TEST_P(RefusedStart, SaysOneSentenceAndLeavesNothing) {
  const auto& [subcommand, refusal] = GetParam();
  const TempDir state;
  std::filesystem::permissions(state.path(), std::filesystem::perms::owner_all);
  std::filesystem::create_directory(state.path() / "runtime");
  std::filesystem::permissions(state.path() / "runtime", std::filesystem::perms::owner_all);
  std::vector<std::string> argv = {BAWN_PROGRAM, subcommand};
  for (const std::string& option : refusal.options) {
    argv.push_back(option == "{state}" ? state.path().string() : option);
  }
  if (subcommand == std::string("run")) {
    argv.insert(argv.end(), {"--", "/bin/true"});
  }
  const auto result = run_program(
      {.argv = argv, .env = {{"BAWN_RUNTIME_DIR", (state.path() / "runtime").string()}}});
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("bawn: "));
  EXPECT_THAT(result.err, HasSubstr(refusal.says));
  ASSERT_THAT(result.err, testing::EndsWith("\n"));
  EXPECT_TRUE(is_one_sentence(result.err.substr(0, result.err.size() - 1))) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(state.path() / "runtime"));
}

INSTANTIATE_TEST_SUITE_P(
    Of, RefusedStart,
    testing::Combine(
        testing::Values("run", "mcp"),
        testing::Values(
            Refusal{"UnknownPolicy", {"--policy", "nope"}, "nope"},
            Refusal{"MissingWorkspace", {"--workspace", "/no/such/folder"}, "/no/such/folder"},
            Refusal{"WorkspaceThatIsAFile",
                    {"--workspace", "/etc/passwd"},
                    "workspace /etc/passwd is not"},
            Refusal{"RootAsWorkspace", {"--workspace", "/"}, "\"/\""},
            Refusal{"WorkspaceThatHoldsOurState", {"--workspace", "{state}"}, "state"},
            Refusal{"UnknownOption", {"--nope"}, "--nope"})),
    [](const auto& test) {
      return std::string(std::get<0>(test.param)) + std::get<1>(test.param).name;
    });

TEST(RefusedWords, AreNamedInCharactersThatATerminalDoesNotObey) {
  const auto unknown = run_program({.argv = {BAWN_PROGRAM, "no\x1b[31msuch"}});
  EXPECT_EQ(unknown.exit_code, 125);
  EXPECT_THAT(unknown.err, HasSubstr("there is no subcommand no\\x1b[31msuch"));
  const auto option = run_program({.argv = {BAWN_PROGRAM, "run", "--no\x1b[31m", "--", "true"}});
  EXPECT_EQ(option.exit_code, 125);
  EXPECT_THAT(option.err, HasSubstr("--no\\x1b[31m"));
}

struct Unstartable {
  const char* name;
  std::string command;
  int status;
};

void PrintTo(const Unstartable& command, std::ostream* out) {
  *out << command.name;
}

class CommandThatCannotStart : public testing::TestWithParam<Unstartable> {};

TEST_P(CommandThatCannotStart, GetsTheStatusThatAShellGivesAndANamedReason) {
  const TempDir workspace;
  workspace.write("plain", "no program\n");
  const auto result = run_program({.argv = {BAWN_PROGRAM, "run", "--workspace",
                                            workspace.path().string(), "--", GetParam().command},
                                   .directory = workspace.path().string()});
  EXPECT_EQ(result.exit_code, GetParam().status);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("bawn: "));
  EXPECT_THAT(result.err, HasSubstr(GetParam().command));
  EXPECT_TRUE(is_one_sentence(result.err.substr(0, result.err.size() - 1))) << result.err;
}

INSTANTIATE_TEST_SUITE_P(Of, CommandThatCannotStart,
                         testing::Values(Unstartable{"NameThatIsNowhere", "no-such-command-here",
                                                     127},
                                         Unstartable{"PathThatIsNowhere", "/no/such/command", 127},
                                         Unstartable{"FileThatIsNoProgram", "./plain", 126},
                                         Unstartable{"Directory", "/etc", 126}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bawn::test
