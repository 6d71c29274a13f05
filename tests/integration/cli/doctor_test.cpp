/// \file
/// `bawn doctor` tries each layer and tells the truth in both forms.

#include "bawn_program.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::test {
namespace {

using ::testing::HasSubstr;

contract::Json attempt_of(const contract::Json& attempts, const std::string& name) {
  for (const auto& attempt : attempts) {
    if (attempt.value("name", "") == name) {
      return attempt;
    }
  }
  return {};
}

contract::Json doctor(const std::string& features_off) {
  const auto result = run_program(
      {.argv = {BAWN_PROGRAM, "doctor", "--json"}, .env = {{"BAWN_FEATURES_OFF", features_off}}});
  const auto json = contract::parse_json(result.out);
  return json ? *json : contract::Json(result.err);
}

TEST(BawnDoctorTest, RaisesEachLayerThatTheMachineHas) {
  BAWN_REQUIRE("landlock");
  BAWN_REQUIRE("seccomp");
  BAWN_REQUIRE("user-namespaces");
  const auto findings = doctor("");
  for (const char* layer : {"landlock", "seccomp", "namespaces", "hygiene"}) {
    EXPECT_EQ(attempt_of(findings["layers"], layer).value("works", false), true)
        << findings["layers"];
  }
  for (const char* policy : {"read-only", "workspace-write", "open-net"}) {
    EXPECT_EQ(attempt_of(findings["presets"], policy).value("works", false), true) << policy;
  }
}

TEST(BawnDoctorTest, SaysWhyALayerIsMissing) {
  const auto findings = doctor("namespaces");
  const auto attempt = attempt_of(findings["layers"], "namespaces");
  EXPECT_EQ(attempt.value("works", true), false) << findings;
  EXPECT_NE(attempt.value("reason", ""), "") << findings;
}

TEST(BawnDoctorTest, PrintsTheSameForAPerson) {
  const auto result = run_program({.argv = {BAWN_PROGRAM, "doctor"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("landlock"));
  EXPECT_THAT(result.out, HasSubstr("workspace-write"));
}

TEST(BawnDoctorTest, SaysWhichContainerEnginesAreThereAndWhyNot) {
  const auto none = run_program({.argv = {BAWN_PROGRAM, "doctor", "--json"},
                                 .env = {{"PATH", "/nowhere"},
                                         {"CONTAINER_HOST", ""},
                                         {"DOCKER_HOST", "unix:///nowhere/docker.sock"},
                                         {"XDG_RUNTIME_DIR", ""}}});
  const auto json = contract::parse_json(none.out);
  ASSERT_TRUE(json) << none.out << none.err;
  const auto docker = attempt_of((*json)["engines"], "docker");
  EXPECT_EQ(docker.value("works", true), false) << *json;
  EXPECT_THAT(docker.value("reason", ""), HasSubstr("/nowhere/docker.sock"));
}

}  // namespace
}  // namespace bawn::test
