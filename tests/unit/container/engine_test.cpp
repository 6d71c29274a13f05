#include "bawn/container/engine.hpp"

#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>

namespace bawn::container {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string program(const test::TempDir& folder, const std::string& name,
                    const std::string& script) {
  const auto path = folder.write(name, "#!/bin/sh\n" + script);
  ::chmod(path.c_str(), 0755);
  return path;
}

TEST(FindEnginesTest, FindsNothingWhereNothingIs) {
  EXPECT_THAT(find_engines({"PATH=/nowhere", "CONTAINER_HOST=", "XDG_RUNTIME_DIR=/nowhere"}),
              SizeIs(::testing::Le(2)));  // a machine's own sockets may be there
}

TEST(FindEnginesTest, FollowsTheVariablesToSocketsAndOtherMachines) {
  const test::TempDir folder;
  program(folder, "podman", "exit 0\n");
  const auto found =
      find_engines({"PATH=" + folder.path().string(), "CONTAINER_HOST=unix:///x/podman.sock",
                    "DOCKER_HOST=ssh://user@host"});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].kind, EngineKind::Podman);
  EXPECT_EQ(found[0].socket, "/x/podman.sock");
  EXPECT_EQ(found[0].command, folder.path().string() + "/podman");
  EXPECT_EQ(found[1].kind, EngineKind::Docker);
  EXPECT_EQ(found[1].remote, "ssh://user@host");
  EXPECT_EQ(found[1].socket, "");
}

TEST(EngineTest, ASocketThatDoesNotAnswerIsNamed) {
  const auto engine = Engine::connect(
      contract::Context(),
      {.kind = EngineKind::Docker, .command = {}, .socket = "/nowhere/docker.sock", .remote = {}},
      {});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code(), ErrorCode::Closed);
  EXPECT_THAT(engine.error().message(), HasSubstr("/nowhere/docker.sock"));
}

TEST(EngineTest, WithoutSocketAndCommandThereIsNone) {
  const auto engine =
      Engine::connect(contract::Context(),
                      {.kind = EngineKind::Podman, .command = {}, .socket = {}, .remote = {}}, {});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code(), ErrorCode::Unsupported);
}

class CommandEngineTest : public ::testing::Test {
 protected:
  std::shared_ptr<Engine> engine(const std::string& script) {
    auto made = Engine::connect(contract::Context(),
                                {.kind = EngineKind::Podman,
                                 .command = program(folder_, "podman", script),
                                 .socket = {},
                                 .remote = {}},
                                {"PATH=/usr/bin:/bin"});
    return *made;
  }
  contract::Context context_;
  test::TempDir folder_;
};

TEST_F(CommandEngineTest, ReadsWhatTheCommandPrints) {
  const auto podman = engine(
      "case $1 in\n"
      "version) echo '{\"Client\":{\"Version\":\"4.3.1\"}}';;\n"
      "container) echo '[{\"Id\":\"abc\"}]';;\n"
      "ps) printf 'one\\ntwo\\n';;\n"
      "esac\n");
  EXPECT_EQ(podman->version(context_)->version, "4.3.1");
  EXPECT_EQ((**podman->inspect(context_, "x"))["Id"], "abc");
  EXPECT_THAT(*podman->list(context_, "bawn.place"), ::testing::ElementsAre("one", "two"));
}

TEST_F(CommandEngineTest, AsksForTheVersionAsOldAndNewCommandsUnderstandIt) {
  // Docker before 23 prints the word "json" for --format json.
  const auto docker = engine(
      "[ \"$3\" = '{{json .}}' ] && echo '{\"Server\":{\"Version\":\"20.10\"}}' || echo \"$3\"\n");
  const auto version = docker->version(context_);
  ASSERT_TRUE(version) << version.error().message();
  EXPECT_EQ(version->version, "20.10");
}

TEST_F(CommandEngineTest, AContainerThatIsNotThereIsNone) {
  const auto podman = engine("echo 'Error: no such container' >&2; exit 125\n");
  const auto found = podman->inspect(context_, "x");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_FALSE(found->has_value());
  EXPECT_TRUE(podman->remove(context_, "x"));
}

TEST_F(CommandEngineTest, AnEngineThatCannotBeReachedIsAnErrorAndNotAnAnswer) {
  const auto podman = engine("echo 'Error: Cannot connect to Podman' >&2; exit 125\n");
  const auto found = podman->inspect(context_, "x");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), HasSubstr("Cannot connect to Podman"));
}

TEST_F(CommandEngineTest, SomethingElseThanJsonIsAnError) {
  const auto version = engine("echo hello\n")->version(context_);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code(), ErrorCode::Internal);
}

}  // namespace
}  // namespace bawn::container
