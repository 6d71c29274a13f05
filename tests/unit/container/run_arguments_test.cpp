#include "run_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bawn::container {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

PlaceSpec some() {
  PlaceSpec spec;
  spec.name = "box";
  spec.image = "image";
  spec.uid = 1000;
  spec.gid = 1001;
  return spec;
}

RunSetup setup(EngineKind engine = EngineKind::Podman, bool rootless = false) {
  return {.engine = engine,
          .rootless = rootless,
          .id = "abc",
          .directory = "/run/bawn/places/abc",
          .warden = "/usr/libexec/bawn/bawn-warden",
          .open_files = 1024,
          .threads = 500};
}

bool has_pair(const std::vector<std::string>& words, const std::string& option,
              const std::string& value) {
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    if (words[at] == option && words[at + 1] == value) {
      return true;
    }
  }
  return false;
}

TEST(RunArgumentsTest, AContainerHasNothingByDefault) {
  const auto words = run_arguments(some(), {}, setup());
  EXPECT_EQ(words.front(), "run");
  EXPECT_TRUE(has_pair(words, "--network", "none"));
  EXPECT_TRUE(has_pair(words, "--cap-drop", "ALL"));
  EXPECT_TRUE(has_pair(words, "--security-opt", "no-new-privileges"));
  EXPECT_TRUE(has_pair(words, "--user", "1000:1001"));
  EXPECT_TRUE(has_pair(words, "--pull", "never"));
  EXPECT_TRUE(has_pair(words, "--label", "bawn.place=abc"));
  EXPECT_THAT(words, Contains("--read-only"));
  EXPECT_THAT(words, Not(Contains("--cap-add")));
  EXPECT_THAT(words, Not(Contains("--privileged")));
}

TEST(RunArgumentsTest, TheMainProcessIsTheWarden) {
  const auto words = run_arguments(some(), {}, setup());
  EXPECT_TRUE(has_pair(words, "--entrypoint", "/.bawn/warden"));
  EXPECT_TRUE(
      has_pair(words, "--mount",
               "type=bind,source=/usr/libexec/bawn/bawn-warden,target=/.bawn/warden,readonly"));
  const std::vector<std::string> last(words.end() - 3, words.end());
  EXPECT_THAT(last, ElementsAre("image", "--main", "/run/bawn/places/abc/socket"));
}

TEST(RunArgumentsTest, LimitsArePassedOn) {
  PlaceSpec spec = some();
  spec.limits = {.memory_bytes = 1048576, .processes = 9, .cpus = 0.5, .tmp_bytes = 4096};
  const auto words = run_arguments(spec, {}, setup());
  EXPECT_TRUE(has_pair(words, "--memory", "1048576"));
  EXPECT_TRUE(has_pair(words, "--pids-limit", "9"));
  EXPECT_TRUE(has_pair(words, "--cpus", "0.50"));
  EXPECT_TRUE(has_pair(words, "--ulimit", "nofile=1024:1024"));
}

TEST(RunArgumentsTest, ARootlessEngineMapsItsUser) {
  EXPECT_TRUE(
      has_pair(run_arguments(some(), {}, setup(EngineKind::Podman, true)), "--userns", "keep-id"));
  PlaceSpec root = some();
  root.uid = 0;
  EXPECT_THAT(run_arguments(root, {}, setup(EngineKind::Podman, true)), Not(Contains("--userns")));
}

TEST(RunArgumentsTest, NoValueOfAnEnvironmentVariableIsInTheCommandLine) {
  PlaceSpec spec = some();
  spec.environment = {{"TOKEN", "secret-value"}};
  EXPECT_THAT(run_arguments(spec, {}, setup()), Not(Contains(HasSubstr("secret-value"))));
}

TEST(WritablePlacesTest, AreTheTemporaryOnesAndWritableMounts) {
  PlaceSpec spec = some();
  spec.mounts = {{.source = "a", .target = "/workspace"},
                 {.source = "b", .target = "/data", .read_only = true}};
  EXPECT_THAT(writable_places(spec), ElementsAre("/tmp", "/var/tmp", "/workspace"));
  spec.read_only_root = false;
  EXPECT_THAT(writable_places(spec), ElementsAre("/"));
}

TEST(RunArgumentsTest, WhereFilesAreNotSharedTheWardenGetsAVolumeAndSpeaksOverPipes) {
  PlaceSpec spec;
  spec.name = "box";
  spec.image = "image";
  spec.uid = 1000;
  spec.gid = 1000;
  RunSetup setup;
  setup.id = "x";
  const auto words = run_arguments(spec, {}, setup);
  EXPECT_EQ(words.front(), "create");
  EXPECT_THAT(words, ::testing::Contains("/.bawn"));
  EXPECT_EQ(words.back(), "--pipes");
  EXPECT_THAT(words, ::testing::Not(::testing::Contains("--mount")));
}

}  // namespace
}  // namespace bawn::container
