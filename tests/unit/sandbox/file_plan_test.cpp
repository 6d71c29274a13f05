#include "bawn/sandbox/plan.hpp"
#include "samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using bawn::sandbox::FilePlan;
using bawn::sandbox::plan_files;
using bawn::sandbox::preset;
using bawn::test::full_features;
using bawn::test::sample_place;
using testing::Contains;
using testing::ElementsAre;

FilePlan files_of(const char* policy_name, const char* off) {
  auto policy = *preset(policy_name);
  policy.best_effort = true;
  auto features = full_features();
  bawn::sandbox::take_away(features, off);
  const auto plan = bawn::sandbox::plan_session(policy, features, sample_place());
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message());
  return plan ? plan->files : FilePlan{};
}

TEST(FilePlanTest, LayersThatHoldPathsLeaveNothingToTheAgent) {
  EXPECT_FALSE(files_of("workspace-write", "").hold_paths);
  EXPECT_FALSE(files_of("workspace-write", "").hold_attributes);
}

TEST(FilePlanTest, LandlockAloneLeavesAttributesToTheAgent) {
  const FilePlan files = files_of("workspace-write", "namespaces");
  EXPECT_FALSE(files.hold_paths);
  EXPECT_TRUE(files.hold_attributes);
}

TEST(FilePlanTest, WithoutAnyLayerTheAgentHoldsPathsBelowTheRoots) {
  const FilePlan files = files_of("workspace-write", "namespaces,landlock");
  EXPECT_TRUE(files.hold_paths);
  EXPECT_THAT(files.roots, ElementsAre(FilePlan::Root{sample_place().workspace, true},
                                       FilePlan::Root{sample_place().private_tmp, true}));
}

TEST(FilePlanTest, AReadOnlyPolicyMakesTheWorkspaceARootThatIsNotWritten) {
  auto place = sample_place();
  place.writable_roots.clear();
  bawn::sandbox::SessionPlan plan;
  plan.workspace = place.workspace;
  plan.tmp = "/tmp";
  EXPECT_THAT(plan_files(*preset("read-only"), plan, place).roots,
              ElementsAre(FilePlan::Root{place.workspace, false}, FilePlan::Root{"/tmp", true}));
}

TEST(FilePlanTest, AnUnconfinedSessionKeepsToWritableRoots) {
  const FilePlan files = files_of("unconfined", "");
  EXPECT_TRUE(files.hold_paths);
  EXPECT_THAT(files.roots, Contains(FilePlan::Root{sample_place().workspace, true}));
}

TEST(FilePlanTest, ProtectedNamesAreHeldWhetherTheyExistOrNot) {
  EXPECT_THAT(files_of("workspace-write", "").protected_paths,
              testing::IsSupersetOf({std::string("/home/ann/project/.git/config"),
                                     std::string("/home/ann/project/.envrc")}));
}

}  // namespace
