#include "samples.hpp"
#include "tool_caches.hpp"

#include <gmock/gmock.h>

namespace bawn::sandbox {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

SessionPlan plan() {
  SessionPlan plan;
  plan.user = "ann";
  plan.home = "/home/ann";
  plan.tmp = "/tmp";
  return plan;
}

std::vector<std::string> entered(const Policy& policy, const std::vector<std::string>& host) {
  return session_environment(policy, plan(), host);
}

TEST(SessionEnvironment, LetsInOnlyWhatThePolicyAllows) {  // C-234
  const Policy policy = test::policy_named("workspace-write");
  const auto environment =
      entered(policy, {"LANG=C.UTF-8", "LC_TIME=de_DE", "AWS_SECRET_ACCESS_KEY=x", "RANDOM_NAME=1",
                       "LD_PRELOAD=/tmp/x.so", "BASH_ENV=/tmp/x"});
  EXPECT_THAT(environment, Contains("LANG=C.UTF-8"));
  EXPECT_THAT(environment, Contains("LC_TIME=de_DE"));
  for (const char* name : {"AWS_SECRET", "RANDOM_NAME", "LD_PRELOAD", "BASH_ENV"}) {
    EXPECT_THAT(environment, Not(Contains(StartsWith(name))));
  }
}

TEST(SessionEnvironment, APatternNeverLetsInACredentialAndANameDoes) {
  Policy policy = test::policy_named("workspace-write");
  policy.env_allow = {"*"};
  const std::vector<std::string> host = {"GITHUB_TOKEN=a",
                                         "MY_API_KEY=b",
                                         "DB_PASSWORD=c",
                                         "DATABASE_URL=postgres://u:p@h/db",
                                         "BAWN_STATE_DIR=x",
                                         "PLAIN=ok",
                                         "HOMEPAGE=https://example.org/a@b:c"};
  const auto by_pattern = entered(policy, host);
  EXPECT_THAT(by_pattern, Contains("PLAIN=ok"));
  EXPECT_THAT(by_pattern, Contains(StartsWith("HOMEPAGE=")));
  for (const char* name : {"GITHUB_TOKEN", "MY_API_KEY", "DB_PASSWORD", "DATABASE_URL", "BAWN_"}) {
    EXPECT_THAT(by_pattern, Not(Contains(StartsWith(name)))) << name;
  }
  policy.env_allow = {"GITHUB_TOKEN"};
  EXPECT_THAT(entered(policy, host), Contains("GITHUB_TOKEN=a"));
}

TEST(SessionEnvironment, SetsWhatIsTrueInside) {
  const auto environment =
      entered(test::policy_named("workspace-write"), {"HOME=/root", "USER=root", "TMPDIR=/var/x"});
  EXPECT_THAT(environment, Contains("HOME=/home/ann"));
  EXPECT_THAT(environment, Contains("USER=ann"));
  EXPECT_THAT(environment, Contains("TMPDIR=/tmp"));
  EXPECT_THAT(environment, Contains("XDG_CACHE_HOME=/tmp/.cache"));
  EXPECT_THAT(environment, Not(Contains("HOME=/root")));
}

SessionPlan plan_with_root(const std::string& path) {
  SessionPlan made = plan();
  made.files.roots = {{"/tmp", true}, {path, true}};
  return made;
}

TEST(ToolCaches, ArePrivateWhereTheyOnlySaveTime) {
  const auto environment =
      entered(test::policy_named("workspace-write"), {"CARGO_HOME=/opt/cargo"});
  EXPECT_THAT(environment, Contains("npm_config_cache=/tmp/.cache/npm"));
  EXPECT_THAT(environment, Contains("GRADLE_USER_HOME=/tmp/.cache/gradle"));
  EXPECT_THAT(environment, Contains("MAVEN_ARGS=-Dmaven.repo.local=/tmp/.cache/maven "
                                    "-Dmaven.repo.local.tail=/home/ann/.m2/repository"));
  EXPECT_THAT(environment, Contains("CARGO_HOME=/opt/cargo")) << "its sources cannot be got anew";
  EXPECT_THAT(environment, Not(Contains(StartsWith("GOMODCACHE="))));
}

TEST(ToolCaches, ArePrivateWithTheirSourcesWhereThereIsANetwork) {
  const auto environment = entered(test::policy_named("open-net"), {"CARGO_HOME=/opt/cargo"});
  EXPECT_THAT(environment, Contains("CARGO_HOME=/tmp/.cache/cargo"));
  EXPECT_THAT(environment, Contains("GOMODCACHE=/tmp/.cache/go-mod"));
}

TEST(ToolCaches, AreTheUsersOwnWhereThePolicyLetsThemBeWritten) {
  const Policy policy = test::policy_named("open-net");
  const auto environment = session_environment(policy, plan_with_root("/home/ann/.cargo"), {});
  EXPECT_THAT(environment, Not(Contains(StartsWith("CARGO_HOME="))));
  EXPECT_THAT(environment, Contains("GOMODCACHE=/tmp/.cache/go-mod"));
}

TEST(ToolCaches, EachKindHasASentenceInTheReport) {
  const Policy policy = test::policy_named("workspace-write");
  const auto sentences = describe_caches(tool_caches(policy, plan_with_root("/home/ann/.m2")));
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_THAT(sentences[0], HasSubstr("private temporary directory: XDG_CACHE_HOME, "));
  EXPECT_THAT(sentences[1], HasSubstr("read-only: GOMODCACHE, CARGO_HOME, "));
  EXPECT_THAT(sentences[2], HasSubstr("shared with programs outside"));
  EXPECT_THAT(sentences[2], HasSubstr(": MAVEN_ARGS"));
}

TEST(SessionEnvironment, PathLosesEntriesThatMeanTheCurrentDirectory) {
  const Policy policy = test::policy_named("workspace-write");
  EXPECT_THAT(entered(policy, {"PATH=:/usr/bin:.:bin::/bin"}), Contains("PATH=/usr/bin:/bin"));
  EXPECT_THAT(entered(policy, {"PATH=."}), Contains(StartsWith("PATH=/usr/local/sbin:")));
  EXPECT_THAT(entered(policy, {}), Contains(StartsWith("PATH=/usr/local/sbin:")));
}

TEST(SessionEnvironment, SkipsEntriesWithoutAName) {
  Policy policy = test::policy_named("workspace-write");
  policy.env_allow = {"*"};
  const auto environment = entered(policy, {"=x", "novalue", "A=1", "A=2"});
  EXPECT_THAT(environment, Contains("A=2"));
  EXPECT_THAT(environment, Not(Contains("A=1")));
  EXPECT_THAT(environment, Not(Contains("=x")));
}

TEST(SessionEnvironment, ProxySettingsEnterOnlyWithTheNetwork) {
  const std::vector<std::string> host = {"HTTPS_PROXY=http://proxy:3128"};
  EXPECT_THAT(entered(test::policy_named("open-net"), host), Contains(host.front()));
  EXPECT_THAT(entered(test::policy_named("workspace-write"), host), Not(Contains(host.front())));
}

TEST(SessionEnvironment, UnconfinedChangesNothing) {
  const std::vector<std::string> host = {"SECRET_TOKEN=1", "PATH=."};
  EXPECT_EQ(entered(test::policy_named("unconfined"), host), host);
}

}  // namespace
}  // namespace bawn::sandbox
