// The session's cgroup, without the planner: its warden is born in it, and its end is the
// session's.
#include "bawn/os/pidfd.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/sandbox/features.hpp"
#include "plans.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>

namespace {

using namespace std::chrono_literals;
using bawn::test::read_file;
using bawn::test::TempDir;

class SessionCgroup : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!features_.cgroup_v2.available) {
      GTEST_SKIP() << "no session can get a cgroup here: " << features_.cgroup_v2.reason;
    }
    if (GetParam()) {
      BAWN_REQUIRE("user-namespaces");
      plan_ = bawn::test::namespace_plan(workspace_.path(), 1234);
    } else {
      plan_ = bawn::test::bare_plan();
    }
    plan_.cgroup.apply = true;
    plan_.cgroup.parent = features_.cgroup;
    bawn::contract::Layer layer;
    layer.name = "cgroup";
    layer.applied = true;
    plan_.forecast.layers.push_back(layer);
  }
  const bawn::sandbox::KernelFeatures features_ = bawn::sandbox::assume_features();
  TempDir workspace_;
  bawn::sandbox::SessionPlan plan_;
};

TEST_P(SessionCgroup, HoldsTheWardenAndItsChildrenAndGoesWithThem) {
  auto warden = bawn::test::start(plan_);
  ASSERT_NE(warden, nullptr);
  const std::string group = warden->cgroup();
  ASSERT_TRUE(group.starts_with(features_.cgroup + "/bawn-")) << group;
  const auto child =
      warden->spawn(bawn::test::spec({"sh", "-c", "setsid sleep 1000 & sleep 1000"}));
  ASSERT_TRUE(child) << child.error().message();
  const std::string processes = read_file(group + "/cgroup.procs");
  EXPECT_THAT(processes, testing::HasSubstr(std::to_string(warden->pid()) + "\n"));
  EXPECT_THAT(processes, testing::HasSubstr(std::to_string((*child)->pid()) + "\n"));
  ASSERT_TRUE((*child)->go());
  warden->close();
  EXPECT_FALSE(std::filesystem::exists(group));
}

TEST_P(SessionCgroup, EndsAWardenThatIsStopped) {
  auto warden = bawn::test::start(plan_);
  ASSERT_NE(warden, nullptr);
  const std::string group = warden->cgroup();
  const auto held = bawn::os::Pidfd::open(warden->pid());
  ASSERT_TRUE(held);
  ASSERT_TRUE(held->signal(SIGSTOP));
  warden->close();
  EXPECT_TRUE(held->exited());
  EXPECT_FALSE(std::filesystem::exists(group));
}

TEST_P(SessionCgroup, ThatCannotBeMadeRefusesTheSession) {
  plan_.cgroup.settings = {{"no.such.limit", "1"}};
  const auto refused = bawn::sandbox::Warden::start(plan_, {.program = BAWN_WARDEN});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().is(bawn::contract::ErrorCode::Unsupported));
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("no.such.limit"));
}

INSTANTIATE_TEST_SUITE_P(Wall, SessionCgroup, testing::Bool(), [](const auto& tested) {
  return tested.param ? "WithNamespaces" : "Without";
});

}  // namespace
