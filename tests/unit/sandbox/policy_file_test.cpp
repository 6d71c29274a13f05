#include "bawn/sandbox/policy_file.hpp"

#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bawn::sandbox {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PolicyFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return (dir_.path() / name).string(); }
  [[nodiscard]] std::string workspace() const { return workspace_.path().string(); }
  [[nodiscard]] Result<ProjectPolicy> project(
      const std::string& text, const std::optional<std::string>& accepted = std::nullopt) const {
    workspace_.write(".bawn.json", text);
    return apply_project_policy(base_, workspace(), accepted);
  }

  Policy base_ = *preset("workspace-write");
  test::TempDir dir_;
  test::TempDir workspace_;
};

TEST_F(PolicyFileTest, IncludesComeFirstAndOwnMembersReplaceTheirs) {
  dir_.write("team.json", R"({"extends": "workspace-write", "write": ["/srv/team"],
                              "limits": {"processes": 50, "open_files": 60}})");
  dir_.write("mine.json", R"({"include": ["team.json"], "name": "mine",
                              "limits": {"processes": 70}})");
  const auto loaded = load_policy_file(path("mine.json"), workspace());
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->policy.name, "mine");
  EXPECT_THAT(loaded->policy.write, ElementsAre("/srv/team"));
  EXPECT_EQ(loaded->policy.limits.processes, 70U);
  EXPECT_EQ(loaded->policy.limits.open_files, 60U);
  EXPECT_THAT(loaded->files, ElementsAre(path("team.json"), path("mine.json")));
}

TEST_F(PolicyFileTest, HostsMayComeFromOneFileAndTheNetworkFromAnother) {
  dir_.write("hosts.json", R"({"hosts": ["example.org"]})");
  dir_.write("mine.json", R"({"include": ["hosts.json"], "extends": "workspace-net"})");
  const auto loaded = load_policy_file(path("mine.json"), workspace());
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_THAT(loaded->policy.hosts, ElementsAre("example.org"));
  dir_.write("closed.json", R"({"include": ["hosts.json"], "extends": "workspace-write"})");
  EXPECT_FALSE(load_policy_file(path("closed.json"), workspace()));
}

TEST_F(PolicyFileTest, AFaultInAnIncludedFileNamesThatFile) {
  dir_.write("team.json", R"({"wriet": []})");
  dir_.write("mine.json", R"({"include": ["team.json"], "extends": "read-only"})");
  const auto loaded = load_policy_file(path("mine.json"), workspace());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message(), HasSubstr("team.json"));
  EXPECT_THAT(loaded.error().message(), HasSubstr("did you mean \"write\""));
}

TEST_F(PolicyFileTest, AFileThatIncludesItselfIsRefused) {
  dir_.write("a.json", R"({"include": ["b.json"], "extends": "read-only"})");
  dir_.write("b.json", R"({"include": ["a.json"]})");
  const auto loaded = load_policy_file(path("a.json"), workspace());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message(), HasSubstr("include itself"));
}

TEST_F(PolicyFileTest, AnIncludedFileInTheWorkspaceIsRefused) {
  workspace_.write("part.json", R"({"write": ["/"]})");
  dir_.write("mine.json",
             R"({"extends": "read-only", "include": [")" + workspace() + R"(/part.json"]})");
  std::filesystem::create_symlink(workspace_.path() / "part.json", path("link.json"));
  const auto loaded = load_policy_file(path("link.json"), workspace());
  ASSERT_FALSE(loaded);
  EXPECT_TRUE(loaded.error().is(ErrorCode::PermissionDenied));
}

TEST_F(PolicyFileTest, VariablesStandForTheWorkspaceAndTheHome) {
  dir_.write("mine.json",
             R"({"extends": "read-only", "write": ["${workspace}/out", "${home}/x"]})");
  const auto loaded = load_policy_file(path("mine.json"), workspace());
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_THAT(loaded->policy.write,
              ElementsAre(std::filesystem::canonical(workspace()).string() + "/out", "~/x"));
}

TEST_F(PolicyFileTest, AProjectWithoutAFileChangesNothing) {
  const auto applied = apply_project_policy(base_, workspace(), std::nullopt);
  ASSERT_TRUE(applied) << applied.error().message();
  EXPECT_FALSE(applied->found);
  EXPECT_EQ(policy_id(applied->policy), policy_id(base_));
}

TEST_F(PolicyFileTest, AProjectMayNarrow) {
  const auto applied = project(R"({"write_workspace": false, "secrets": ["~/.mine"],
                                   "limits": {"processes": 10}})");
  ASSERT_TRUE(applied) << applied.error().message();
  EXPECT_THAT(applied->refused, IsEmpty());
  EXPECT_FALSE(applied->policy.write_workspace);
  EXPECT_THAT(applied->policy.secrets, Contains("~/.mine"));
  EXPECT_THAT(applied->policy.secrets, Contains("~/.ssh"));
  EXPECT_EQ(applied->policy.limits.processes, 10U);
}

TEST_F(PolicyFileTest, AProjectGetsNothingThatThePolicyDoesNotGive) {
  const auto applied = project(
      R"({"write": ["/etc"], "network": "full", "secrets": [], "protected_names": [],
          "env_allow": ["PATH", "GITHUB_TOKEN"], "landlock": "off", "require": [],
          "best_effort": true, "run_as": "root", "limits": {"processes": null}})");
  ASSERT_TRUE(applied) << applied.error().message();
  EXPECT_THAT(applied->refused, ElementsAre("write", "env_allow", "network", "landlock",
                                            "best_effort", "run_as", "limits.processes"));
  const Policy& policy = applied->policy;
  EXPECT_THAT(policy.write, IsEmpty());
  EXPECT_EQ(policy.network, Network::None);
  EXPECT_EQ(policy.secrets, base_.secrets);
  EXPECT_EQ(policy.protected_names, base_.protected_names);
  EXPECT_THAT(policy.env_allow, Not(Contains("GITHUB_TOKEN")));
  EXPECT_EQ(policy.landlock, LayerMode::Auto);
  EXPECT_EQ(policy.require, base_.require);
  EXPECT_FALSE(policy.best_effort);
  EXPECT_EQ(policy.run_as, base_.run_as);
  EXPECT_EQ(policy.limits.processes, base_.limits.processes);
}

TEST_F(PolicyFileTest, APathBelowAWritableRootIsNotTheProjectsToName) {
  // A command may have put a link there; the whole entry is the user's word.
  base_.write = {"~/.cache/tool", "/srv/out"};
  const auto applied = project(R"({"write": ["~/.cache/tool/link", "/srv/out"]})");
  ASSERT_TRUE(applied) << applied.error().message();
  EXPECT_THAT(applied->refused, ElementsAre("write"));
  EXPECT_THAT(applied->policy.write, ElementsAre("/srv/out"));
}

TEST_F(PolicyFileTest, AnExactNameDoesNotPassByAPatternThatKeepsCredentialsOut) {
  base_.env_allow = {"PATH", "MY_*"};
  const auto applied = project(R"({"env_allow": ["PATH", "MY_TOKEN", "MY_APP_*"]})");
  ASSERT_TRUE(applied) << applied.error().message();
  EXPECT_THAT(applied->refused, ElementsAre("env_allow"));
  EXPECT_THAT(applied->policy.env_allow, ElementsAre("PATH", "MY_APP_*"));
}

TEST_F(PolicyFileTest, AProjectCannotNameThePolicy) {
  const auto applied = project(R"({"name": "read-only"})");
  ASSERT_TRUE(applied) << applied.error().message();
  EXPECT_EQ(applied->policy.name, "workspace-write + .bawn.json");
}

TEST_F(PolicyFileTest, AProjectMayTakeHostsAndTheNetworkAwayAndAddsNone) {
  base_ = *preset("workspace-net");
  base_.hosts = {"example.org", "*.example.com"};
  const auto fewer = project(R"({"hosts": ["example.org", "evil.example.com", "*"]})");
  ASSERT_TRUE(fewer) << fewer.error().message();
  EXPECT_THAT(fewer->refused, ElementsAre("hosts"));
  EXPECT_THAT(fewer->policy.hosts, ElementsAre("example.org"));
  const auto none = project(R"({"network": "none"})");
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_THAT(none->refused, IsEmpty());
  EXPECT_EQ(none->policy.network, Network::None);
  EXPECT_THAT(none->policy.hosts, IsEmpty());
  const auto mapped = project(R"({"host_addresses": {"example.org": "127.0.0.1:22"}})");
  ASSERT_TRUE(mapped) << mapped.error().message();
  EXPECT_THAT(mapped->refused, ElementsAre("host_addresses"));
  EXPECT_THAT(mapped->policy.host_addresses, IsEmpty());
}

TEST_F(PolicyFileTest, MembersOfTheWrongKindAreRefusedByName) {
  for (const auto& [text, member] : {std::pair{R"({"limits": 5})", "limits"},
                                     {R"({"limits": {"processes": "many"}})", "limits.processes"},
                                     {R"({"write": "all"})", "write"},
                                     {R"({"networks": "none"})", "\"network\""},
                                     {R"({"include": ["/etc/x"]})", "include"},
                                     {R"([1])", "object"}}) {
    const auto applied = project(text);
    ASSERT_FALSE(applied) << text;
    EXPECT_THAT(applied.error().message(), HasSubstr(".bawn.json"));
    EXPECT_THAT(applied.error().message(), HasSubstr(member));
  }
}

TEST_F(PolicyFileTest, AProjectIsTakenWholeOnlyByItsHash) {
  const std::string text = R"({"write": ["/srv/shared"]})";
  const auto narrowed = project(text);
  ASSERT_TRUE(narrowed) << narrowed.error().message();
  const auto accepted = project(text, narrowed->hash);
  ASSERT_TRUE(accepted) << accepted.error().message();
  EXPECT_TRUE(accepted->trusted);
  EXPECT_THAT(accepted->policy.write, ElementsAre("/srv/shared"));
  const auto changed = project(R"({"write": ["/"]})", narrowed->hash);
  ASSERT_FALSE(changed);
  EXPECT_TRUE(changed.error().is(ErrorCode::PermissionDenied));
}

TEST_F(PolicyFileTest, AProjectsFileIsNoLinkAndTakesNoWallDown) {
  const auto off = project(R"({"enforce": false, "name": "unconfined"})");
  ASSERT_FALSE(off);
  EXPECT_THAT(off.error().message(), HasSubstr("enforce"));
  std::filesystem::remove(workspace_.path() / ".bawn.json");
  dir_.write("secret.json", R"({"name": "x"})");
  std::filesystem::create_symlink(path("secret.json"), workspace_.path() / ".bawn.json");
  EXPECT_FALSE(apply_project_policy(base_, workspace(), std::nullopt));
}

}  // namespace
}  // namespace bawn::sandbox
