#include "bawn/sandbox/plan.hpp"
#include "kernel_abi.hpp"
#include "paths.hpp"
#include "samples.hpp"

#include <gmock/gmock.h>

namespace bawn::sandbox {
namespace {

using test::place_for;
using test::policy_named;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// What a path may do: the rules of it and of everything above it, as the kernel adds them up.
std::uint64_t rights_on(const LandlockPlan& plan, std::string_view path) {
  std::uint64_t rights = 0;
  for (const LandlockRule& rule : plan.rules) {
    rights |= is_within(path, rule.path) ? rule.access : 0;
  }
  return rights;
}

constexpr std::uint64_t kChanges = abi::kWriteFile | abi::kRemoveDir | abi::kRemoveFile |
                                   abi::kMakeChar | abi::kMakeDir | abi::kMakeReg | abi::kMakeSock |
                                   abi::kMakeFifo | abi::kMakeBlock | abi::kMakeSym | abi::kRefer |
                                   abi::kTruncate;

struct Case {
  Policy policy;
  int abi;
  bool mounts;
  Place place;
  LandlockPlan plan;
};

/// Calls `check` for each walled preset, ABI 1 to 9, with and without mounts.
template <class Check>
void for_every_case(Check check) {
  for (const char* name : {"read-only", "workspace-write", "open-net"}) {
    for (int version = 1; version <= 9; ++version) {
      for (const bool mounts : {false, true}) {
        SCOPED_TRACE(testing::Message() << name << " abi " << version << " mounts " << mounts);
        const Policy policy = policy_named(name);
        const Place place = place_for(policy);
        check(Case{policy, version, mounts, place, plan_landlock(policy, version, mounts, place)});
      }
    }
  }
}

TEST(LandlockPlanOfEveryAbi, GrantsNoChangeOutsideWorkspaceAndPrivatePlaces) {
  for_every_case([](const Case& each) {
    for (const char* path : {"/etc/passwd", "/home/ann/notes", "/home/ann/.bashrc", "/usr/bin/env",
                             "/proc/sys/kernel/core_pattern", "/sys/fs/cgroup", "/run/x"}) {
      EXPECT_EQ(rights_on(each.plan, path) & kChanges, 0U) << path;
    }
    const std::uint64_t own = rights_on(each.plan, "/home/ann/project/src/a.c") & kChanges;
    EXPECT_EQ(own != 0, each.policy.write_workspace);
  });
}

TEST(LandlockPlanOfEveryAbi, NeverGrantsDeviceNodesDeviceCommandsOrHostSocketsInTheWorkspace) {
  for_every_case([](const Case& each) {
    const std::uint64_t rights = rights_on(each.plan, "/home/ann/project/x");
    EXPECT_EQ(rights & (abi::kMakeChar | abi::kMakeBlock | abi::kIoctlDev | abi::kResolveUnix), 0U);
  });
}

TEST(LandlockPlanOfEveryAbi, NamesOnlyRightsThatItHandles) {
  for_every_case([](const Case& each) {
    for (const LandlockRule& rule : each.plan.rules) {
      EXPECT_EQ(rule.access & ~each.plan.handled_fs, 0U) << rule.path;
      EXPECT_NE(rule.access, 0U) << rule.path;
    }
  });
}

TEST(LandlockPlanOfEveryAbi, KeepsTheReportChannelWriteOnlyAndTheInputReadOnly) {
  for_every_case([](const Case& each) {
    const std::string inside = session_directory_inside(each.place, each.mounts);
    EXPECT_EQ(rights_on(each.plan, inside + "/w/report") & (abi::kReadFile | abi::kMakeReg), 0U);
    EXPECT_NE(rights_on(each.plan, inside + "/w/report") & abi::kWriteFile, 0U);
    EXPECT_EQ(rights_on(each.plan, inside + "/r/text") & kChanges, 0U);
    EXPECT_NE(rights_on(each.plan, inside + "/r/text") & abi::kReadFile, 0U);
  });
}

TEST(LandlockPlanOfEveryAbi, WithoutMountsSecretsDevicesAndOtherSessionsAreUnreadable) {
  for_every_case([](const Case& each) {
    if (each.mounts) {
      return;
    }
    for (const char* path : {"/home/ann/.ssh/id_ed25519", "/home/ann/.netrc", "/etc/shadow",
                             "/home/ann/.local/state/bawn/sessions/8/r/text", "/dev/vda", "/dev"}) {
      EXPECT_EQ(rights_on(each.plan, path) & (abi::kReadFile | abi::kReadDir | abi::kExecute), 0U)
          << path;
    }
    EXPECT_NE(rights_on(each.plan, "/usr/bin/env") & abi::kExecute, 0U);
    EXPECT_NE(rights_on(each.plan, "/dev/null") & abi::kWriteFile, 0U);
  });
}

TEST(LandlockPlanOfEveryAbi, ANewerKernelHoldsNoLess) {
  for_every_case([](const Case& each) {
    if (each.abi == 1) {
      return;
    }
    const LandlockPlan older = plan_landlock(each.policy, each.abi - 1, each.mounts, each.place);
    EXPECT_EQ(older.handled_fs & ~each.plan.handled_fs, 0U);
    EXPECT_EQ(older.handled_net & ~each.plan.handled_net, 0U);
    EXPECT_EQ(older.scoped & ~each.plan.scoped, 0U);
    EXPECT_LE(each.plan.missing.size(), older.missing.size());
  });
}

TEST(LandlockPlan, HandlesWhatEachAbiBrought) {
  const Policy policy = policy_named("workspace-write");
  const Place place = place_for(policy);
  const auto handled = [&](int version) { return plan_landlock(policy, version, false, place); };
  EXPECT_EQ(handled(1).handled_fs, 0x1fffU);
  EXPECT_EQ(handled(2).handled_fs, 0x3fffU);
  EXPECT_EQ(handled(3).handled_fs, 0x7fffU);
  EXPECT_EQ(handled(3).handled_net, 0U);
  EXPECT_EQ(handled(4).handled_net, 3U);
  EXPECT_EQ(handled(5).handled_fs, 0xffffU);
  EXPECT_EQ(handled(5).scoped, 0U);
  EXPECT_EQ(handled(6).scoped, 3U);
  EXPECT_EQ(handled(6).restrict_flags, 0U);
  EXPECT_EQ(handled(7).restrict_flags, 2U) << "denials after an exec are logged";
  EXPECT_EQ(handled(8).handled_fs, 0xffffU);
  EXPECT_EQ(handled(9).handled_fs, 0x1ffffU);
}

TEST(LandlockPlan, AKernelNewerThanKnownIsUsedAsTheNewestKnown) {
  const Policy policy = policy_named("workspace-write");
  const LandlockPlan plan = plan_landlock(policy, 42, true, place_for(policy));
  EXPECT_EQ(plan.abi, 9);
  EXPECT_EQ(plan.handled_fs, 0x1ffffU);
}

TEST(LandlockPlan, LeavesTcpToTheNetworkNamespaceSoThatLoopbackWorks) {
  const Policy policy = policy_named("workspace-write");
  EXPECT_EQ(plan_landlock(policy, 7, true, place_for(policy), true).handled_net, 0U);
  EXPECT_EQ(plan_landlock(policy_named("open-net"), 7, true, place_for(policy)).handled_net, 0U);
}

TEST(LandlockPlan, WithMountsAndNoSessionDirectoryOneRuleReadsAll) {
  const Policy policy = policy_named("read-only");
  Place place = place_for(policy);
  place.session_dir.clear();
  const LandlockPlan plan = plan_landlock(policy, 7, true, place);
  EXPECT_EQ(plan.rules.front(), (LandlockRule{"/", 0xd}));
}

TEST(LandlockPlan, AReadOnlyWorkspaceInRunIsReadable) {
  const Policy policy = policy_named("read-only");
  Place place = place_for(policy);
  place.workspace = "/run/user/1000/w";
  const LandlockPlan plan = plan_landlock(policy, 7, true, place);
  EXPECT_NE(rights_on(plan, "/run/user/1000/w/a") & abi::kReadFile, 0U);
  EXPECT_EQ(rights_on(plan, "/run/user/1000/x") & abi::kReadFile, 0U);
}

TEST(LandlockPlan, SaysWhatAnOldAbiCannotHold) {
  const Policy policy = policy_named("workspace-write");
  const LandlockPlan old = plan_landlock(policy, 2, true, place_for(policy));
  EXPECT_THAT(old.missing, testing::Contains(HasSubstr("truncating files outside")));
  EXPECT_THAT(old.missing, testing::Contains(HasSubstr("signals and abstract")));
  EXPECT_THAT(plan_landlock(policy, 9, true, place_for(policy)).missing, IsEmpty());
}

TEST(LandlockPlan, IsAbsentForAbiZeroAndForPoliciesWithoutIt) {
  Policy policy = policy_named("workspace-write");
  const Place place = place_for(policy);
  EXPECT_EQ(plan_landlock(policy, 0, true, place).abi, 0);
  EXPECT_EQ(plan_landlock(policy_named("unconfined"), 7, true, place).abi, 0);
  policy.landlock = LayerMode::Off;
  EXPECT_THAT(plan_landlock(policy, 7, true, place).rules, IsEmpty());
}

}  // namespace
}  // namespace bawn::sandbox
