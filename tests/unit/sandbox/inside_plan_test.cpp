#include "bawn/sandbox/inside.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bawn::sandbox {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kWriteFile = 2;

Inside some() {
  return {.container = "box",
          .workspace = "/workspace",
          .home = "/tmp",
          .uid = 1000,
          .gid = 1000,
          .session_dir = "/run/bawn/places/x/sessions/y",
          .writable = {"/tmp", "/workspace"},
          .missing = {"memory is not limited by the engine"}};
}

KernelFeatures kernel(int landlock_abi) {
  KernelFeatures features;
  features.landlock_abi = landlock_abi;
  features.landlock_reason = landlock_abi > 0 ? "" : "there is none";
  features.seccomp.available = true;
  return features;
}

bool may_write(const SessionPlan& plan, const std::string& path) {
  return std::ranges::any_of(plan.landlock.rules, [&](const LandlockRule& rule) {
    return rule.path == path && (rule.access & kWriteFile) != 0;
  });
}

TEST(InsidePlanTest, AddsLandlockAndSeccompToTheContainersWall) {
  const auto plan = plan_inside(kernel(7), some());
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->namespaces.clone_flags, 0U);
  EXPECT_TRUE(plan->namespaces.mounts.empty());
  EXPECT_TRUE(plan->seccomp.apply);
  EXPECT_TRUE(plan->child_scope_layer);
  EXPECT_EQ(plan->forecast.by, "container:box+landlock+seccomp");
  EXPECT_TRUE(plan->forecast.confined);
  EXPECT_FALSE(plan->forecast.confirmed);
}

TEST(InsidePlanTest, WritesOnlyWhereTheContainerCan) {
  const auto plan = plan_inside(kernel(7), some());
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_TRUE(may_write(*plan, "/workspace"));
  EXPECT_FALSE(may_write(*plan, "/"));
  Inside open = some();
  open.writable = {"/"};
  EXPECT_TRUE(may_write(*plan_inside(kernel(7), open), "/"));
}

TEST(InsidePlanTest, SaysWhatTheEngineDoesNotHold) {
  const auto plan = plan_inside(kernel(7), some());
  ASSERT_TRUE(plan) << plan.error().message();
  const auto& layer = plan->forecast.layers.front();
  EXPECT_EQ(layer.name, "container");
  EXPECT_THAT(layer.missing, Contains("memory is not limited by the engine"));
}

TEST(InsidePlanTest, WithoutLandlockTheReportNamesWhatIsLeft) {
  const auto plan = plan_inside(kernel(0), some());
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->forecast.by, "container:box+seccomp");
  EXPECT_FALSE(plan->child_scope_layer);
  EXPECT_THAT(plan->forecast.notes, Contains(HasSubstr("warden is not protected")));
}

TEST(InsidePlanTest, AnEnginesNetworkIsNoGuarantee) {
  Inside open = some();
  open.network = true;
  const auto plan = plan_inside(kernel(7), open);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_THAT(plan->forecast.guarantees, Not(Contains("network")));
  EXPECT_THAT(plan->forecast.notes, Contains(HasSubstr("metadata")));
  EXPECT_THAT(plan_inside(kernel(7), some())->forecast.guarantees, Contains("network"));
}

TEST(InsidePlanTest, CapabilitiesThatWereKeptOnPurposeStay) {
  EXPECT_TRUE(plan_inside(kernel(7), some())->hygiene.drop_capabilities);
  Inside kept = some();
  kept.keep_capabilities = true;
  EXPECT_FALSE(plan_inside(kernel(7), kept)->hygiene.drop_capabilities);
}

}  // namespace
}  // namespace bawn::sandbox
