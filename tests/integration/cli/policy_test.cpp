/// \file
/// `bawn policy`, and the file that a hostile project brings: it never gets more than the user
/// gave.

#include "bawn_program.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bawn::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ProjectFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] ProgramResult policy(std::vector<std::string> words) const {
    std::vector<std::string> argv = {BAWN_PROGRAM, "policy"};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_program(
        {.argv = argv, .input = {}, .directory = workspace_.path().string(), .env = {}, .uid = 0});
  }
  [[nodiscard]] std::string outside(const char* name) const {
    return (outside_.path() / name).string();
  }

  TempDir workspace_;
  TempDir outside_;
};

TEST_F(ProjectFileTest, GetsNoWritableDirectoryUntilItsHashIsAccepted) {
  BAWN_REQUIRE("landlock");
  workspace_.write(".bawn.json", R"({"write": [")" + outside_.path().string() + R"("]})");
  std::filesystem::permissions(outside_.path(), std::filesystem::perms::all);
  const std::string command = "echo x > " + outside("made");
  const auto refused = run_program(run_in(workspace_, command));
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("asks for more than the policy workspace-write gives"));
  EXPECT_FALSE(std::filesystem::exists(outside("made")));
  const auto checked = policy({"check", ".bawn.json"});
  const auto hash = checked.out.find("sha256:");
  ASSERT_NE(hash, std::string::npos) << checked.out << checked.err;
  const auto accepted = run_program(run_in(
      workspace_, command, {"--accept-project", checked.out.substr(hash, std::size_t{7 + 64})}));
  EXPECT_EQ(accepted.exit_code, 0) << accepted.err;
  EXPECT_TRUE(std::filesystem::exists(outside("made")));
}

TEST_F(ProjectFileTest, ChangedAfterItWasAcceptedStopsTheStart) {
  workspace_.write(".bawn.json", R"({"write_workspace": false})");
  const auto result = run_program(run_in(
      workspace_, "echo ran", {"--accept-project", "sha256:" + std::string(std::size_t{64}, '0')}));
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.out, Not(HasSubstr("ran")));
  EXPECT_THAT(result.err, HasSubstr("read it again before you accept it"));
}

TEST_F(ProjectFileTest, CannotWriteToTheTerminalByANameThatIsNotKnown) {
  workspace_.write(".bawn.json", "{\"\\u001b[2Jwrite\": []}");
  const auto result = run_program(run_in(workspace_, "echo ran"));
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(result.err, HasSubstr(".bawn.json"));
}

TEST_F(ProjectFileTest, IsProtectedFromTheCommandsOfTheSession) {
  BAWN_REQUIRE("user-namespaces");
  workspace_.write(".bawn.json", R"({"limits": {"processes": 100}})");
  std::filesystem::permissions(workspace_.path() / ".bawn.json", std::filesystem::perms::all);
  const auto result = run_program(run_in(workspace_, "echo y > plain && echo x > .bawn.json"));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("Read-only file system"));
  EXPECT_TRUE(std::filesystem::exists(workspace_.path() / "plain"));
}

TEST_F(ProjectFileTest, PolicyShowAndExplainSayWhatHoldsAndByWhichMember) {
  workspace_.write(".bawn.json", R"({"write_workspace": false})");
  const auto shown = policy({"show"});
  EXPECT_THAT(shown.out, HasSubstr(R"("name": "workspace-write + .bawn.json")"));
  EXPECT_THAT(shown.out, HasSubstr(R"("policy_id": "sha256:)"));
  const auto closed = policy({"explain", "./new-file"});
  EXPECT_THAT(closed.out, HasSubstr("write    no"));
  std::filesystem::remove(workspace_.path() / ".bawn.json");
  EXPECT_THAT(policy({"explain", "./new-file"}).out, HasSubstr("write    yes"));
  const auto host =
      policy({"explain", "a.example", "--policy", "workspace-net", "--allow-host", "a.example"});
  EXPECT_THAT(host.out, HasSubstr("connect  yes"));
  EXPECT_THAT(policy({"explain", "--policy", "workspace-net", "b.example"}).out,
              HasSubstr("connect  no"));
}

}  // namespace
}  // namespace bawn::test
