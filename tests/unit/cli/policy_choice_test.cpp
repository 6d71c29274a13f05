#include "policy_choice.hpp"

#include "support/temp_dir.hpp"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>

namespace bawn::cli {
namespace {

using contract::ErrorCode;

TEST(ChoosePolicyTest, TakesAPresetByName) {
  const auto policy = choose_policy({.policy = "read-only"});
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_EQ(policy->name, "read-only");
}

TEST(ChoosePolicyTest, NamesTheNearestPresetForAMisspeltOne) {
  const auto policy = choose_policy({.policy = "workspace-wirte"});
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code(), ErrorCode::NotFound);
  EXPECT_NE(policy.error().message().find("workspace-write"), std::string::npos);
}

TEST(ChoosePolicyTest, RefusesUnconfinedUnlessAllowed) {
  const auto refused = choose_policy({.policy = "unconfined"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::PermissionDenied);
  const auto allowed = choose_policy({.policy = "unconfined", .allow_unconfined = true});
  ASSERT_TRUE(allowed) << allowed.error().message();
  EXPECT_FALSE(allowed->enforce);
}

TEST(ChoosePolicyTest, ReadsAFileThatExtendsAPreset) {
  const test::TempDir dir;
  const auto file = dir.write("mine.json", R"({"extends":"read-only","name":"mine"})");
  const auto policy = choose_policy({.policy = file.string()});
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_EQ(policy->name, "mine");
  EXPECT_FALSE(policy->write_workspace);
}

TEST(ChoosePolicyTest, NamesTheFileAndTheProblem) {
  const test::TempDir dir;
  const auto file = dir.write("bad.json", R"({"extends":"read-only","wriet":[]})").string();
  const auto policy = choose_policy({.policy = file});
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code(), ErrorCode::InvalidArgument);
  EXPECT_NE(policy.error().message().find(file), std::string::npos);
  EXPECT_NE(policy.error().message().find("wriet"), std::string::npos);
}

TEST(ChoosePolicyTest, RefusesAFileThatACommandOfTheSessionCouldHaveWritten) {
  const test::TempDir dir;
  const auto file = dir.write("sub/mine.json", R"({"extends":"read-only","name":"mine"})").string();
  const auto inside = choose_policy({.policy = file, .workspace = dir.path().string()});
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().code(), ErrorCode::PermissionDenied);
  EXPECT_TRUE(choose_policy({.policy = file, .workspace = "/usr"}));
}

TEST(ChoosePolicyTest, RefusesAFifoWithoutWaitingForIt) {
  const test::TempDir dir;
  const auto fifo = (dir.path() / "policy.json").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto policy = choose_policy({.policy = fifo, .workspace = "/usr"});
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code(), ErrorCode::InvalidArgument);
}

TEST(ChoosePolicyTest, SaysWhichFileIsMissing) {
  const auto policy = choose_policy({.policy = "/nowhere/policy.json"});
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code(), ErrorCode::NotFound);
  EXPECT_NE(policy.error().message().find("/nowhere/policy.json"), std::string::npos);
}

TEST(WallOptionsTest, ReachAnotherProgramOfOursWhole) {
  WallOptions options;
  CLI::App app;
  add_wall_options(app, options);
  add_grant_option(app, options);
  app.parse(
      "--policy workspace-net --workspace /srv --allow-host a.test --allow-host *.b.test:443 "
      "--best-effort --allow-unconfined --accept-project sha256:00 --grant never");
  auto words = words_of(options);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_name() != "--help") {
      EXPECT_NE(std::ranges::find(words, option->get_name()), words.end()) << option->get_name();
    }
  }
  WallOptions again;
  CLI::App other;
  add_wall_options(other, again);
  add_grant_option(other, again);
  std::ranges::reverse(words);  // the order in which CLI11 takes a vector
  other.parse(words);
  EXPECT_EQ(again.policy, options.policy);
  EXPECT_EQ(again.workspace, options.workspace);
  EXPECT_EQ(again.hosts, options.hosts);
  EXPECT_EQ(again.best_effort, options.best_effort);
  EXPECT_EQ(again.allow_unconfined, options.allow_unconfined);
  EXPECT_EQ(again.grant, "never");
  EXPECT_EQ(again.accept_project, options.accept_project);
}

}  // namespace
}  // namespace bawn::cli
