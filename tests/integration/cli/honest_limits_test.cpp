/// \file
/// What is left when a machine has less, and that the report says so. BAWN_FEATURES_OFF takes
/// features away from the probe.

#include "bawn_program.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Limited {
  ProgramResult result;
  contract::Json report;
};

Limited run_without(const std::string& features, const std::string& command,
                    std::vector<std::string> options = {}) {
  const TempDir workspace;
  const TempDir elsewhere;
  const auto file = (elsewhere.path() / "report.json").string();
  options.insert(options.end(), {"--report", file});
  auto run = run_in(workspace, command, options);
  run.env["BAWN_FEATURES_OFF"] = features;
  Limited limited{run_program(run), {}};
  limited.report = read_report(file);
  return limited;
}

constexpr const char* kWriteOutside = "echo x > /var/tmp/../../etc/bawn-was-here";

TEST(HonestLimitsTest, WithoutLandlockNamespacesCarryTheGuarantees) {
  BAWN_REQUIRE("user-namespaces");
  const auto [result, report] = run_without("landlock", kWriteOutside);
  EXPECT_THAT(result.err, HasSubstr("Read-only file system")) << report;
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(layer_of(report, "landlock").value("applied", true), false) << report;
  EXPECT_NE(layer_of(report, "landlock").value("reason", ""), "") << report;
  EXPECT_EQ(layer_of(report, "namespaces").value("applied", false), true) << report;
  EXPECT_THAT(report.value("by", ""), Not(HasSubstr("landlock")));
}

TEST(HonestLimitsTest, WithoutNamespacesLandlockAndSeccompCarryThem) {
  BAWN_REQUIRE("landlock");
  const auto [result, report] = run_without("namespaces", kWriteOutside);
  EXPECT_THAT(result.err, HasSubstr("Permission denied")) << report;
  EXPECT_EQ(report.value("by", ""), "landlock+seccomp") << report;
  EXPECT_NE(layer_of(report, "namespaces").value("reason", ""), "") << report;
}

TEST(HonestLimitsTest, WithoutBothTheSessionDoesNotStartAndSaysWhy) {
  const auto [result, report] = run_without("landlock,namespaces", "echo ran");
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("fs-write"));
}

TEST(HonestLimitsTest, BestEffortRunsWithoutBothAndReportsWhatIsMissing) {
  const auto [result, report] = run_without("landlock,namespaces", "echo ran", {"--best-effort"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "ran\n");
  EXPECT_EQ(layer_of(report, "landlock").value("applied", true), false) << report;
  EXPECT_EQ(layer_of(report, "namespaces").value("applied", true), false) << report;
  const auto guarantees = contract::dump_json(report.value("guarantees", contract::Json::array()));
  EXPECT_THAT(guarantees, Not(HasSubstr("fs-write"))) << report;
  EXPECT_FALSE(report.value("notes", contract::Json::array()).empty()) << report;
  EXPECT_THAT(result.err, HasSubstr("NOT CONFINED: of the policy workspace-write only seccomp"));
  const auto walled = run_without("", "echo ran", {"--best-effort"});
  EXPECT_THAT(walled.result.err, Not(HasSubstr("NOT CONFINED"))) << walled.result.err;
}

TEST(HonestLimitsTest, ACallThatNothingConfinesSaysSo) {
  const TempDir workspace;
  const auto call = [&](const char* features) {
    return run_program({.argv = {BAWN_PROGRAM, "call", "--best-effort", "bash", "echo ran"},
                        .input = {},
                        .directory = workspace.path().string(),
                        .env = {{"BAWN_FEATURES_OFF", features}},
                        .uid = 0});
  };
  const auto bare = call("landlock,namespaces,seccomp,hygiene");
  EXPECT_THAT(bare.out, HasSubstr("ran"));
  EXPECT_THAT(bare.err, HasSubstr("NOT CONFINED: of the policy workspace-write"));
  EXPECT_THAT(call("").err, Not(HasSubstr("NOT CONFINED")));
}

TEST(HonestLimitsTest, UnconfinedSaysThatThereIsNoWall) {
  const auto [result, report] =
      run_without("", "echo ran", {"--policy", "unconfined", "--allow-unconfined"});
  EXPECT_EQ(result.out, "ran\n") << result.err;
  EXPECT_EQ(report.value("confined", true), false) << report;
  EXPECT_EQ(report.value("by", "x"), "") << report;
}

}  // namespace
}  // namespace bawn::test
