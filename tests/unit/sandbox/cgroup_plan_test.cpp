#include "cgroup_plan.hpp"

#include "samples.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <filesystem>
#include <string>

namespace bawn::sandbox {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A made-up /proc and /sys.
class LookAtCgroup : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root_.path() / name).parent_path());
    (void)root_.write(name, text);
  }
  void make_group(const std::string& path, const std::string& processes,
                  const std::string& given_on = "\n") {
    write(path + "/cgroup.controllers", "cpuset cpu io memory pids\n");
    write(path + "/cgroup.subtree_control", given_on);
    write(path + "/cgroup.procs", processes);
    write(path + "/cgroup.type", "domain\n");
  }
  KernelFeatures look(const std::string& kernel = "6.12.0") {
    KernelFeatures features;
    features.kernel = kernel;
    look_at_cgroup(root_.path(), features);
    return features;
  }
  [[nodiscard]] std::string inside(const std::string& path) const { return root_.path() / path; }

  const std::string self_ = std::to_string(::getpid()) + "\n";
  test::TempDir root_;
};

TEST_F(LookAtCgroup, GivesEverythingToWhoIsAloneInADelegatedCgroup) {
  write("proc/self/cgroup", "0::/user/bawn.scope\n");
  make_group("sys/fs/cgroup", "1\n");
  make_group("sys/fs/cgroup/user/bawn.scope", self_);
  const KernelFeatures features = look();
  EXPECT_TRUE(features.cgroup_v2.available) << features.cgroup_v2.reason;
  EXPECT_EQ(features.cgroup, inside("sys/fs/cgroup/user/bawn.scope"));
  EXPECT_THAT(features.cgroup_controllers, ElementsAre("memory", "pids", "cpu"));
  EXPECT_EQ(features.cgroup_reason, "");
}

TEST_F(LookAtCgroup, TakesTheCgroupAboveItsOwnStepDown) {
  write("proc/self/cgroup", "0::/user/bawn.scope/bawn-server\n");
  make_group("sys/fs/cgroup", "1\n");
  make_group("sys/fs/cgroup/user/bawn.scope", "", "memory pids\n");
  const KernelFeatures features = look();
  EXPECT_EQ(features.cgroup, inside("sys/fs/cgroup/user/bawn.scope"));
  EXPECT_THAT(features.cgroup_controllers, Contains("memory"));
}

TEST_F(LookAtCgroup, GivesNoControllersWhereOthersShareTheCgroup) {
  write("proc/self/cgroup", "0::/a\n");
  make_group("sys/fs/cgroup", "1\n");
  make_group("sys/fs/cgroup/a", "1\n" + self_);
  const KernelFeatures features = look();
  EXPECT_TRUE(features.cgroup_v2.available);
  EXPECT_THAT(features.cgroup_controllers, IsEmpty());
  EXPECT_THAT(features.cgroup_reason, HasSubstr("other processes share"));
}

TEST_F(LookAtCgroup, FindsTheTreeBesideVersion1AndNamesWhatThatHolds) {
  write("proc/self/cgroup", "4:memory:/x\n1:cpu:/\n0::/\n");
  write("sys/fs/cgroup/unified/cgroup.controllers", "hugetlb\n");
  write("sys/fs/cgroup/unified/cgroup.subtree_control", "\n");
  write("sys/fs/cgroup/unified/cgroup.procs", "1\n");
  const KernelFeatures features = look();
  EXPECT_TRUE(features.cgroup_v2.available) << features.cgroup_v2.reason;
  EXPECT_EQ(features.cgroup, inside("sys/fs/cgroup/unified"));
  EXPECT_THAT(features.cgroup_controllers, IsEmpty());
  EXPECT_THAT(features.cgroup_reason,
              HasSubstr("no controller memory, pids, cpu: cgroup v1 holds it"));
}

TEST_F(LookAtCgroup, RefusesWhatIsNotDelegated) {
  EXPECT_THAT(look().cgroup_v2.reason, HasSubstr("there is no cgroup v2"));
  write("proc/self/cgroup", "4:memory:/x\n1:cpu:/\n");
  make_group("sys/fs/cgroup", self_);
  EXPECT_THAT(look().cgroup_v2.reason, HasSubstr("there is no cgroup v2"));
  write("proc/self/cgroup", "0::/../other\n");
  EXPECT_THAT(look().cgroup_v2.reason, HasSubstr("outside this cgroup namespace"));
  write("proc/self/cgroup", "0::/gone\n");
  EXPECT_THAT(look().cgroup_v2.reason, HasSubstr("may not be written"));
  write("proc/self/cgroup", "0::/\n");
  EXPECT_THAT(look("5.10.0").cgroup_v2.reason, HasSubstr("Linux 5.14"));
  EXPECT_TRUE(look().cgroup_v2.available) << "the control";
  std::filesystem::create_directories(root_.path() / "run/systemd/system");
  EXPECT_THAT(look().cgroup_v2.reason, HasSubstr("systemd did not delegate"));
}

Policy limited() {
  Policy policy = *preset("workspace-write");
  policy.limits.processes = 100;
  policy.limits.session_memory_bytes = 1 << 20;
  policy.limits.cpu_percent = 150;
  return policy;
}

KernelFeatures with_cgroup(std::vector<std::string> controllers) {
  KernelFeatures features = test::full_features();
  features.cgroup_v2 = {.available = true, .reason = {}};
  features.cgroup = "/sys/fs/cgroup/x";
  features.cgroup_controllers = std::move(controllers);
  features.cgroup_reason = "a reason";
  return features;
}

TEST(PlanCgroup, TurnsLimitsIntoSettings) {
  const CgroupPlan plan = plan_cgroup(limited(), with_cgroup({"memory", "pids", "cpu"}), true);
  EXPECT_TRUE(plan.apply);
  EXPECT_EQ(plan.parent, "/sys/fs/cgroup/x");
  EXPECT_THAT(plan.controllers, ElementsAre("memory", "pids", "cpu"));
  EXPECT_THAT(plan.settings, ElementsAre(CgroupPlan::Setting{"memory.max", "1048576"},
                                         CgroupPlan::Setting{"memory.swap.max", "0"},
                                         CgroupPlan::Setting{"pids.max", "108"},
                                         CgroupPlan::Setting{"cpu.max", "150000 100000"}));
  EXPECT_THAT(plan.missing, IsEmpty());
}

TEST(PlanCgroup, NamesTheLimitsThatNoControllerHolds) {
  const CgroupPlan plan = plan_cgroup(limited(), with_cgroup({"pids"}), true);
  EXPECT_TRUE(plan.apply);
  EXPECT_TRUE(holds_setting(plan, "pids.max"));
  EXPECT_THAT(plan.missing, ElementsAre("the memory of the whole session is not limited: a reason",
                                        "the session's CPU time is not limited: a reason"));
}

TEST(PlanCgroup, WithoutControllersServesOnlyToEndASessionThatNoNamespaceEnds) {
  EXPECT_TRUE(plan_cgroup(limited(), with_cgroup({}), false).apply);
  const CgroupPlan unused = plan_cgroup(limited(), with_cgroup({}), true);
  EXPECT_FALSE(unused.apply);
  EXPECT_EQ(unused.reason, "it would hold nothing here: a reason");
}

TEST(PlanCgroup, IsOffWhereThePolicySaysSo) {
  Policy policy = limited();
  policy.cgroup = LayerMode::Off;
  EXPECT_FALSE(plan_cgroup(policy, with_cgroup({"memory", "pids"}), false).apply);
}

TEST(PlanSession, RefusesACgroupThatIsRequiredAndNotToBeHadInFull) {
  Policy policy = limited();
  policy.cgroup = LayerMode::Required;
  KernelFeatures none = test::full_features();
  none.cgroup_v2.reason = "nobody delegated one";
  const auto without = plan_session(policy, none, test::sample_place());
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message(), HasSubstr("the layer cgroup, which cannot be had here: "
                                                   "nobody delegated one"));
  const auto part = plan_session(policy, with_cgroup({"pids"}), test::sample_place());
  ASSERT_FALSE(part);
  EXPECT_THAT(part.error().message(), HasSubstr("memory of the whole session"));
  EXPECT_TRUE(plan_session(policy, with_cgroup({"memory", "pids", "cpu"}), test::sample_place()));
}

TEST(PlanSession, CountsProcessesInTheCgroupWhereItCan) {
  KernelFeatures features = with_cgroup({"pids"});
  take_away(features, "namespaces");
  Policy policy = *preset("workspace-write");
  const auto counted = plan_session(policy, features, test::sample_place());
  ASSERT_TRUE(counted) << counted.error().message();
  EXPECT_THAT(counted->hygiene.missing, testing::Not(Contains(HasSubstr("counted with all"))));
  policy.cgroup = LayerMode::Off;
  const auto shared = plan_session(policy, features, test::sample_place());
  ASSERT_TRUE(shared);
  EXPECT_THAT(shared->hygiene.missing, Contains(HasSubstr("counted with all")));
}

}  // namespace
}  // namespace bawn::sandbox
