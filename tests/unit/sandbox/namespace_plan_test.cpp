#include "bawn/sandbox/plan.hpp"
#include "kernel_abi.hpp"
#include "paths.hpp"
#include "samples.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace bawn::sandbox {
namespace {

using Kind = MountStep::Kind;
using test::full_features;
using test::place_for;
using test::policy_named;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

NamespacePlan plan_for(const char* policy_name, const Place& place,
                       const KernelFeatures& features = full_features()) {
  return plan_namespaces(policy_named(policy_name), features, place);
}

/// Position of the first step of that kind on that target; the number of steps when there is none.
std::size_t position(const NamespacePlan& plan, Kind kind, std::string_view target) {
  const auto found = std::ranges::find_if(plan.mounts, [&](const MountStep& step) {
    return step.kind == kind && step.target == target;
  });
  return static_cast<std::size_t>(found - plan.mounts.begin());
}

bool has(const NamespacePlan& plan, Kind kind, std::string_view target) {
  return position(plan, kind, target) < plan.mounts.size();
}

TEST(NamespacePlan, MakesTheRootReadOnlyBeforeItOpensTheWorkspace) {
  const Policy policy = policy_named("workspace-write");
  const NamespacePlan plan = plan_for("workspace-write", place_for(policy));
  EXPECT_LT(position(plan, Kind::MakePrivate, "/"), position(plan, Kind::RemountReadOnly, "/"));
  EXPECT_LT(position(plan, Kind::RemountReadOnly, "/"),
            position(plan, Kind::BindWritable, "/home/ann/project"));
}

TEST(NamespacePlan, OpensNothingButWorkspaceItsPinsAndPrivatePlaces) {
  for (const char* name : {"read-only", "workspace-write", "open-net"}) {
    const Policy policy = policy_named(name);
    const Place place = place_for(policy);
    for (const MountStep& step : plan_for(name, place).mounts) {
      if (step.kind == Kind::BindWritable) {
        EXPECT_TRUE(is_within_any(step.target, place.writable_roots) || step.target == "/var/tmp" ||
                    step.target == place.session_dir + "/w")
            << name << " " << step.target;
      }
    }
  }
}

TEST(NamespacePlan, PinsTheDirectoryAboveAProtectedNameBeforeProtectingIt) {
  const Policy policy = policy_named("workspace-write");
  const NamespacePlan plan = plan_for("workspace-write", place_for(policy));
  const std::size_t pin = position(plan, Kind::BindWritable, "/home/ann/project/.git");
  EXPECT_LT(pin, position(plan, Kind::BindReadOnly, "/home/ann/project/.git/hooks"));
  EXPECT_LT(pin, position(plan, Kind::BindReadOnly, "/home/ann/project/.git/config"));
  const auto pins = std::ranges::count_if(
      plan.mounts, [](const MountStep& step) { return step.target == "/home/ann/project/.git"; });
  EXPECT_EQ(pins, 1) << "one pin serves all names below it";
}

TEST(NamespacePlan, MakesNothingInTheUsersTreeForNamesThatAreNotThere) {
  const Policy policy = policy_named("workspace-write");
  const Place place = place_for(policy);
  const NamespacePlan plan = plan_for("workspace-write", place);
  for (const MountStep& step : plan.mounts) {
    if (step.kind == Kind::MakeDirectory || step.kind == Kind::MakeSymlink) {
      EXPECT_FALSE(is_within_any(step.target, place.writable_roots)) << step.target;
    }
    EXPECT_NE(step.target, "/home/ann/project/.envrc");
  }
  EXPECT_THAT(plan.missing, Contains(HasSubstr("/home/ann/project/.envrc")));
}

TEST(NamespacePlan, MasksSecretsAndSocketsButNotWhatPrivateDirectoriesHideAnyway) {
  const Policy policy = policy_named("workspace-write");
  const NamespacePlan plan = plan_for("workspace-write", place_for(policy));
  EXPECT_TRUE(has(plan, Kind::MaskDirectory, "/home/ann/.ssh"));
  EXPECT_TRUE(has(plan, Kind::MaskFile, "/home/ann/.netrc"));
  EXPECT_TRUE(has(plan, Kind::MaskFile, "/etc/shadow"));
  EXPECT_TRUE(has(plan, Kind::MaskFile, "/home/ann/.cache/agent.sock"));
  EXPECT_FALSE(has(plan, Kind::MaskFile, "/run/docker.sock"));
  EXPECT_FALSE(has(plan, Kind::MaskFile, "/tmp/.X11-unix/X0"));
  EXPECT_TRUE(has(plan, Kind::Tmpfs, "/run"));
  EXPECT_TRUE(has(plan, Kind::Tmpfs, "/tmp"));
}

TEST(NamespacePlan, AFreshProcIsReadOnlyWhereItReachesTheMachine) {
  Place place = place_for(policy_named("workspace-write"));
  KernelFeatures features = full_features();
  EXPECT_TRUE(has(plan_for("workspace-write", place, features), Kind::BindReadOnly, "/proc/sys"));
  features.is_root = true;
  const NamespacePlan plan = plan_for("workspace-write", place, features);
  const std::size_t proc = position(plan, Kind::Proc, "/proc");
  for (const char* path :
       {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"}) {
    EXPECT_TRUE(has(plan, Kind::BindReadOnly, path)) << path;
    EXPECT_LT(proc, position(plan, Kind::BindReadOnly, path));
  }
  EXPECT_LT(position(plan, Kind::WriteFile, "/proc/sys/user/max_user_namespaces"),
            position(plan, Kind::BindReadOnly, "/proc/sys"));
}

TEST(NamespacePlan, WritesPidMaxOnlyWhereItIsTheNamespacesOwn) {
  const Place place = place_for(policy_named("workspace-write"));
  KernelFeatures features = full_features();
  features.kernel = "6.13.9";
  EXPECT_FALSE(has(plan_for("workspace-write", place, features), Kind::WriteFile,
                   "/proc/sys/kernel/pid_max"))
      << "it would change the whole machine";
  features.kernel = "6.14.0-rc1";
  EXPECT_TRUE(has(plan_for("workspace-write", place, features), Kind::WriteFile,
                  "/proc/sys/kernel/pid_max"));
}

TEST(NamespacePlan, ASmallProcessLimitIsRaisedToWhatTheKernelTakes) {
  Policy policy = policy_named("workspace-write");
  policy.limits.processes = 5;
  const NamespacePlan plan = plan_namespaces(policy, full_features(), place_for(policy));
  EXPECT_EQ(plan.mounts[position(plan, Kind::WriteFile, "/proc/sys/kernel/pid_max")].data, "301");
}

TEST(NamespacePlan, AWorkspaceInTmpIsHeldWithItsMasksAndAttachedAgain) {
  Place place = place_for(policy_named("workspace-write"));
  place.workspace = "/tmp/w";
  place.writable_roots = {"/tmp/w"};
  place.existing_secrets.emplace_back("/tmp/w/.netrc");
  const NamespacePlan plan = plan_for("workspace-write", place);
  const auto held = std::ranges::find(plan.mounts, "/tmp/w", &MountStep::source);
  ASSERT_NE(held, plan.mounts.end());
  const std::size_t hold = position(plan, Kind::HoldPath, "0");
  ASSERT_LT(hold, plan.mounts.size());
  EXPECT_EQ(plan.mounts[hold].source, "/tmp/w");
  EXPECT_LT(position(plan, Kind::MaskFile, "/tmp/w/.netrc"), hold);
  EXPECT_LT(hold, position(plan, Kind::Tmpfs, "/tmp"));
  EXPECT_LT(position(plan, Kind::Tmpfs, "/tmp"), position(plan, Kind::BindHeld, "/tmp/w"));
}

TEST(NamespacePlan, ARootInSharedMemoryIsHeldBeforeThePrivateDevicesCoverIt) {
  Place place = place_for(policy_named("workspace-write"));
  place.writable_roots.emplace_back("/dev/shm/w");
  const NamespacePlan plan = plan_for("workspace-write", place);
  const std::size_t hold = position(plan, Kind::HoldPath, "0");
  ASSERT_LT(hold, plan.mounts.size());
  EXPECT_EQ(plan.mounts[hold].source, "/dev/shm/w");
  const std::size_t devices = position(plan, Kind::Devices, "/dev");
  ASSERT_LT(devices, plan.mounts.size());
  EXPECT_LT(hold, devices);
  EXPECT_LT(devices, position(plan, Kind::BindHeld, "/dev/shm/w"));
}

TEST(NamespacePlan, HeldNumbersCountUpInTheOrderOfTheSteps) {
  Place place = place_for(policy_named("open-net"));
  place.workspace = "/tmp/w";
  place.writable_roots = {"/tmp/w"};
  place.resolver_file = "/run/systemd/resolve/stub-resolv.conf";
  const NamespacePlan plan = plan_for("open-net", place);
  std::vector<std::string> numbers;
  for (const MountStep& step : plan.mounts) {
    if (step.kind == Kind::HoldPath) {
      numbers.push_back(step.target);
    }
  }
  EXPECT_THAT(numbers, testing::ElementsAre("0", "1", "2", "3"));
  EXPECT_TRUE(has(plan, Kind::BindHeld, "/run/systemd/resolve/stub-resolv.conf"));
}

TEST(NamespacePlan, NestedRootsInTmpAreHeldOnce) {
  Place place = place_for(policy_named("workspace-write"));
  place.workspace = "/tmp/w";
  place.writable_roots = {"/tmp/w", "/tmp/w/sub"};
  const NamespacePlan plan = plan_for("workspace-write", place);
  EXPECT_FALSE(has(plan, Kind::BindHeld, "/tmp/w/sub"));
}

TEST(NamespacePlan, TheSessionDirectoryInBawnsStateIsReachedByLinksAndHidesTheRest) {
  const Policy policy = policy_named("workspace-write");
  const NamespacePlan plan = plan_for("workspace-write", place_for(policy));
  const std::size_t cover = position(plan, Kind::Tmpfs, "/home/ann/.local/state/bawn");
  ASSERT_LT(cover, plan.mounts.size());
  EXPECT_FALSE(has(plan, Kind::MaskDirectory, "/home/ann/.local/state/bawn"));
  const std::string link = "/home/ann/.local/state/bawn/sessions/7/w";
  EXPECT_LT(cover, position(plan, Kind::MakeSymlink, link));
  EXPECT_EQ(plan.mounts[position(plan, Kind::MakeSymlink, link)].source, "/run/bawn/w");
  EXPECT_LT(position(plan, Kind::MakeSymlink, link),
            position(plan, Kind::RemountReadOnly, "/home/ann/.local/state/bawn"));
  EXPECT_TRUE(has(plan, Kind::BindHeld, "/run/bawn/w"));
}

TEST(NamespacePlan, LinksInAPrivateDirectoryLieUnderAMountThatLeadsToNoRoot) {
  Place place = place_for(policy_named("workspace-write"));
  place.session_dir = "/tmp/state/sessions/1";
  NamespacePlan plan = plan_for("workspace-write", place);
  EXPECT_LT(position(plan, Kind::Tmpfs, "/tmp/state"),
            position(plan, Kind::MakeSymlink, "/tmp/state/sessions/1/r"));
  EXPECT_LT(position(plan, Kind::MakeSymlink, "/tmp/state/sessions/1/w"),
            position(plan, Kind::RemountReadOnly, "/tmp/state"));
  place.writable_roots.emplace_back("/tmp/state/work");
  plan = plan_for("workspace-write", place);
  EXPECT_FALSE(has(plan, Kind::Tmpfs, "/tmp/state"));
  EXPECT_TRUE(has(plan, Kind::Tmpfs, "/tmp/state/sessions"));

  place = place_for(policy_named("workspace-write"));
  place.session_dir = "/tmp/user/1000/state/sessions/1";
  place.existing_secrets = place.secret_directories = {"/tmp/user/1000/state"};
  plan = plan_for("workspace-write", place);
  EXPECT_TRUE(has(plan, Kind::Tmpfs, "/tmp/user/1000/state")) << "no wider than bawn's own";
}

TEST(NamespacePlan, ASessionDirectoryInRunStaysWhereItIs) {
  Place place = place_for(policy_named("workspace-write"));
  place.session_dir = "/run/user/1000/bawn/7";
  const NamespacePlan plan = plan_for("workspace-write", place);
  EXPECT_TRUE(has(plan, Kind::BindHeld, "/run/user/1000/bawn/7/w"));
  EXPECT_EQ(std::ranges::count(plan.mounts, Kind::MakeSymlink, &MountStep::kind), 0);
}

TEST(NamespacePlan, ASessionDirectoryElsewhereHidesItsNeighbours) {
  Place place = place_for(policy_named("workspace-write"));
  place.session_dir = "/srv/x/sessions/7";
  const NamespacePlan plan = plan_for("workspace-write", place);
  const std::size_t cover = position(plan, Kind::Tmpfs, "/srv/x/sessions");
  EXPECT_LT(cover, position(plan, Kind::MakeDirectory, "/srv/x/sessions/7"));
  EXPECT_TRUE(has(plan, Kind::MakeSymlink, "/srv/x/sessions/7/r"));
  EXPECT_TRUE(has(plan, Kind::MaskDirectory, "/home/ann/.local/state/bawn"));
}

TEST(NamespacePlan, AHomeAsWorkspaceKeepsItsSecretsMaskedAndTheirParentsPinned) {
  Place place = place_for(policy_named("workspace-write"));
  place.workspace = "/home/ann";
  place.writable_roots = {"/home/ann"};
  const NamespacePlan plan = plan_for("workspace-write", place);
  EXPECT_TRUE(has(plan, Kind::MaskDirectory, "/home/ann/.ssh"));
  EXPECT_TRUE(has(plan, Kind::BindWritable, "/home/ann/.local"));
  EXPECT_TRUE(has(plan, Kind::BindWritable, "/home/ann/.local/state"));
}

TEST(NamespacePlan, TheNetworkNamespaceFollowsThePolicy) {
  const Place place = place_for(policy_named("workspace-write"));
  EXPECT_NE(plan_for("workspace-write", place).clone_flags & abi::kNewNet, 0U);
  EXPECT_TRUE(plan_for("workspace-write", place).loopback_up);
  EXPECT_EQ(plan_for("open-net", place).clone_flags & abi::kNewNet, 0U);
}

TEST(NamespacePlan, IdentityIsMappedWholeOnlyForRoot) {
  const Place place = place_for(policy_named("workspace-write"));
  KernelFeatures features = full_features();
  EXPECT_FALSE(plan_for("workspace-write", place, features).full_identity_map);
  features.is_root = true;
  EXPECT_TRUE(plan_for("workspace-write", place, features).full_identity_map);
}

TEST(NamespacePlan, WithoutOneOfTheThreeMainKindsThereIsNoPlanAndAReason) {
  const Policy policy = policy_named("workspace-write");
  const Place place = place_for(policy);
  for (auto member : {&KernelFeatures::user_namespace, &KernelFeatures::mount_namespace,
                      &KernelFeatures::pid_namespace}) {
    KernelFeatures features = full_features();
    features.*member = {false, "says the test"};
    EXPECT_EQ(plan_namespaces(policy, features, place).clone_flags, 0U);
    EXPECT_THAT(plan_namespaces(policy, features, place).mounts, IsEmpty());
    EXPECT_EQ(namespaces_blocker(policy, features, place), "says the test");
  }
}

TEST(NamespacePlan, MountStepsStayFew) {
  const Policy policy = policy_named("workspace-write");
  EXPECT_LT(plan_for("workspace-write", place_for(policy)).mounts.size(), 40U)
      << "each costs some ten microseconds at the start of every session";
}

}  // namespace
}  // namespace bawn::sandbox
