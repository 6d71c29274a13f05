#include "bawn/sandbox/plan.hpp"
#include "guarantees.hpp"
#include "kernel_abi.hpp"
#include "samples.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace bawn::sandbox {
namespace {

using contract::Layer;
using test::every_kernel;
using test::full_features;
using test::place_for;
using test::policy_named;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const Layer& layer(const SessionPlan& plan, std::string_view name) {
  return *std::ranges::find(plan.forecast.layers, name, &Layer::name);
}

KernelFeatures without(const char* list, int abi = 7) {
  KernelFeatures features = full_features(abi);
  take_away(features, list);
  return features;
}

TEST(SessionPlan, WithEverythingAllSixGuaranteesHoldByThreeWalls) {
  const Policy policy = policy_named("workspace-write");
  const auto plan = plan_session(policy, full_features(), place_for(policy));
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_TRUE(plan->forecast.confined);
  EXPECT_FALSE(plan->forecast.confirmed) << "a forecast is no report";
  EXPECT_EQ(plan->forecast.by, "landlock+seccomp+namespaces");
  EXPECT_THAT(plan->forecast.guarantees, ElementsAre("fs-write", "secrets", "network", "signals",
                                                     "lifetime", "kernel-surface"));
  EXPECT_THAT(plan->forecast.notes, Each(StartsWith("caches of build tools")));
  EXPECT_EQ(plan->forecast.user, "ann(1000)");
  EXPECT_EQ(plan->forecast.policy_id, policy_id(policy));
  EXPECT_EQ(plan->tmp, "/tmp");
  EXPECT_FALSE(plan->child_scope_layer);
  EXPECT_EQ(layer(*plan, "landlock").abi, 7);
}

TEST(SessionPlan, OnEveryKernelItStartsWithAllRequiredGuaranteesOrNotAtAll) {
  for (const char* name : {"read-only", "workspace-write", "workspace-net", "open-net"}) {
    const Policy policy = policy_named(name);
    const Place place = place_for(policy);
    for (const KernelFeatures& features : every_kernel()) {
      const auto plan = plan_session(policy, features, place);
      if (!plan) {
        EXPECT_EQ(plan.error().code(), ErrorCode::Unsupported);
        EXPECT_THAT(plan.error().message(),
                    testing::AnyOf(HasSubstr(std::string("the policy ") + name),
                                   HasSubstr("network \"allow-list\" needs")));
        continue;
      }
      for (const Guarantee guarantee : policy.require) {
        EXPECT_THAT(plan->forecast.guarantees, Contains(std::string(to_string(guarantee))))
            << name << " abi " << features.landlock_abi;
      }
      EXPECT_TRUE(plan->forecast.confined);
    }
  }
}

TEST(SessionPlan, BestEffortStartsOnEveryKernelAndNamesEachLoss) {
  Policy policy = policy_named("workspace-write");
  policy.best_effort = true;
  const Place place = place_for(policy);
  for (const KernelFeatures& features : every_kernel()) {
    const auto plan = plan_session(policy, features, place);
    ASSERT_TRUE(plan) << plan.error().message();
    for (const Guarantee guarantee : policy.require) {
      const std::string name(to_string(guarantee));
      const bool held =
          std::ranges::find(plan->forecast.guarantees, name) != plan->forecast.guarantees.end();
      const bool named = std::ranges::any_of(plan->forecast.notes, [&](const std::string& note) {
        return note.starts_with("not held: " + name + ": ");
      });
      EXPECT_NE(held, named) << name << " abi " << features.landlock_abi;
    }
    for (const Layer& each : plan->forecast.layers) {
      EXPECT_EQ(each.applied, each.reason.empty()) << each.name << ": " << each.reason;
    }
  }
}

TEST(SessionPlan, ANewerLandlockNeverGivesLess) {
  for (const char* off : {"", "namespaces", "seccomp", "namespaces,seccomp"}) {
    Policy policy = policy_named("workspace-write");
    policy.best_effort = true;
    std::size_t before = 0;
    for (int abi = 0; abi <= 9; ++abi) {
      const auto plan = plan_session(policy, without(off, abi), place_for(policy));
      ASSERT_TRUE(plan);
      EXPECT_GE(plan->forecast.guarantees.size(), before) << off << " abi " << abi;
      before = plan->forecast.guarantees.size();
    }
  }
}

TEST(SessionPlan, TheUsersMessageBusIsNamedWhereItIsOutOfReach) {
  const Policy policy = policy_named("workspace-write");
  Place place = place_for(policy);
  const std::string own = fmt::format("/run/user/{}/bus", place.uid);
  place.host_sockets = {"/run/user/4711/bus", "/run/user/1000/bus2"};
  const auto others = plan_session(policy, full_features(), place);
  ASSERT_TRUE(others) << others.error().message();
  EXPECT_THAT(others->forecast.notes, Each(StartsWith("caches of build tools")));
  place.host_sockets.push_back(own);
  const auto plan = plan_session(policy, full_features(), place);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_THAT(plan->forecast.notes, Contains(HasSubstr("D-Bus socket " + own)));
}

TEST(SessionPlan, WithoutNamespacesTheFallbackHoldsAndSaysItsCosts) {
  const Policy policy = policy_named("workspace-write");
  const auto plan = plan_session(policy, without("namespaces"), place_for(policy));
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->forecast.by, "landlock+seccomp");
  EXPECT_TRUE(plan->child_scope_layer);
  EXPECT_EQ(plan->tmp, "/home/ann/.local/state/bawn/sessions/7/tmp");
  EXPECT_THAT(plan->forecast.notes, Contains(HasSubstr("\"ls /\" fails")));
  EXPECT_THAT(plan->forecast.notes, Contains(HasSubstr("relies on markers")));
  EXPECT_THAT(plan->forecast.notes, Contains(HasSubstr("no sockets at all")));
  EXPECT_THAT(layer(*plan, "landlock").missing, Contains(HasSubstr("modes, times and owners")));
  EXPECT_FALSE(layer(*plan, "namespaces").applied);
  EXPECT_THAT(layer(*plan, "namespaces").reason, HasSubstr("BAWN_FEATURES_OFF"));
}

TEST(SessionPlan, WithoutNamespacesAnOldLandlockIsNotEnough) {
  const Policy policy = policy_named("workspace-write");
  const auto five = plan_session(policy, without("namespaces", 5), place_for(policy));
  ASSERT_FALSE(five);
  EXPECT_THAT(five.error().message(), HasSubstr("guarantee signals"));
  const auto two = plan_session(policy, without("namespaces", 2), place_for(policy));
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message(), HasSubstr("guarantee fs-write"));
  EXPECT_THAT(two.error().message(), HasSubstr("truncated"));
}

TEST(SessionPlan, WithoutLandlockNamespacesCarryTheWallAlone) {
  const Policy policy = policy_named("workspace-write");
  const auto plan = plan_session(policy, without("landlock"), place_for(policy));
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->forecast.by, "seccomp+namespaces");
  EXPECT_THAT(plan->forecast.notes, Contains(HasSubstr("channel of its session's reports")));
}

TEST(SessionPlan, WithoutBothItRefusesAndSaysWhatWouldHelp) {
  const Policy policy = policy_named("workspace-write");
  const auto plan = plan_session(policy, without("landlock,namespaces"), place_for(policy));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message(),
            "the policy workspace-write requires the guarantee fs-write, which cannot be had here: "
            "there is neither Landlock nor a mount namespace; user namespaces, or Landlock ABI 3 "
            "(Linux 6.2) would give it, or set \"best_effort\" to start without it");
}

TEST(SessionPlan, BestEffortWithoutAnyWallIsNotCalledConfined) {
  Policy policy = policy_named("workspace-write");
  policy.best_effort = true;
  const auto plan = plan_session(policy, without("landlock,namespaces,seccomp"), place_for(policy));
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->forecast.confined);
  EXPECT_EQ(plan->forecast.by, "");
  EXPECT_THAT(plan->forecast.guarantees, IsEmpty());
}

TEST(SessionPlan, ARequiredLayerThatIsMissingIsAnErrorThatNamesIt) {
  const Place place = place_for(policy_named("workspace-write"));
  Policy policy = policy_named("workspace-write");
  policy.namespaces = LayerMode::Required;
  EXPECT_THAT(plan_session(policy, without("namespaces"), place).error().message(),
              HasSubstr("the layer namespaces"));
  policy.namespaces = LayerMode::Auto;
  policy.landlock = LayerMode::Required;
  EXPECT_THAT(plan_session(policy, without("landlock"), place).error().message(),
              HasSubstr("the layer landlock"));
}

TEST(SessionPlan, ALayerThatThePolicySwitchesOffIsReportedAsNotRequested) {
  Policy policy = policy_named("workspace-write");
  policy.landlock = LayerMode::Off;
  const auto plan = plan_session(policy, full_features(), place_for(policy));
  ASSERT_TRUE(plan);
  EXPECT_FALSE(layer(*plan, "landlock").requested);
  EXPECT_EQ(layer(*plan, "landlock").reason, "switched off by the policy");
}

TEST(SessionPlan, ASecretInAWritableRootNeedsMounts) {
  const Policy policy = policy_named("workspace-write");
  Place place = place_for(policy);
  place.workspace = "/home/ann";
  place.writable_roots = {"/home/ann"};
  EXPECT_TRUE(plan_session(policy, full_features(), place));
  const auto plan = plan_session(policy, without("namespaces"), place);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message(), HasSubstr("guarantee secrets"));
}

TEST(SessionPlan, OpenNetworkPromisesNoNetworkGuarantee) {
  const Policy policy = policy_named("open-net");
  const auto plan = plan_session(policy, full_features(), place_for(policy));
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->forecast.guarantees, Not(Contains("network")));
  EXPECT_THAT(plan->forecast.notes, Each(StartsWith("caches of build tools")))
      << "what was not asked for is no loss";
}

TEST(SessionPlan, NetworksThatCannotBeHadAreRefusedInWords) {
  Policy policy = policy_named("workspace-write");
  policy.network = Network::Loopback;
  EXPECT_TRUE(plan_session(policy, full_features(), place_for(policy)));
  EXPECT_THAT(plan_session(policy, without("namespaces"), place_for(policy)).error().message(),
              HasSubstr("network namespace"));
}

TEST(SessionPlan, AListOfHostsIsReachedThroughAProxyWhereverItCanBeHeld) {
  const Policy policy = policy_named("workspace-net");
  const auto inside = plan_session(policy, full_features(), place_for(policy));
  ASSERT_TRUE(inside);
  EXPECT_TRUE(inside->network.proxy && inside->network.inside);
  EXPECT_FALSE(inside->network.supervise) << "a network namespace leaves nothing to supervise";
  EXPECT_THAT(inside->forecast.guarantees, Contains("network"));

  const auto bare = plan_session(policy, without("namespaces"), place_for(policy));
  ASSERT_TRUE(bare) << bare.error().message();
  EXPECT_TRUE(bare->network.proxy && bare->network.supervise && bare->network.sockets_inside);
  EXPECT_FALSE(bare->network.inside);
  EXPECT_EQ(bare->landlock.handled_net, abi::kBindTcp | abi::kConnectTcp);
  EXPECT_THAT(bare->forecast.guarantees, Contains("network"));
}

TEST(SessionPlan, AListOfHostsIsRefusedWhereNothingCanHoldIt) {
  Policy policy = policy_named("workspace-net");
  KernelFeatures features = without("namespaces");
  features.seccomp_notify = {false, "no notification in this test"};
  EXPECT_THAT(plan_session(policy, features, place_for(policy)).error().message(),
              HasSubstr("no notification in this test"));
  policy.best_effort = true;
  const auto plan = plan_session(policy, features, place_for(policy));
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_FALSE(plan->network.proxy || plan->network.supervise);
  EXPECT_THAT(plan->forecast.guarantees, Contains("network")) << "then nothing is reached at all";
  EXPECT_THAT(plan->forecast.notes, Contains(HasSubstr("no notification in this test")));
}

TEST(SessionPlan, TheFullNetworkIsSupervisedForTheSakeOfMetadataAddresses) {
  const Policy policy = policy_named("open-net");
  const auto plan = plan_session(policy, full_features(), place_for(policy));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->network.supervise);
  EXPECT_FALSE(plan->network.proxy || plan->network.sockets_inside);
  EXPECT_EQ(plan->landlock.handled_net, abi::kConnectTcp) << "nobody connects but the supervisor";
  KernelFeatures features = full_features();
  features.seccomp_notify = {false, "no notification in this test"};
  const auto open = plan_session(policy, features, place_for(policy));
  ASSERT_TRUE(open);
  EXPECT_EQ(open->landlock.handled_net, 0U);
  EXPECT_THAT(open->forecast.notes, Contains(HasSubstr("metadata")));
}

TEST(SessionPlan, UnconfinedIsReportedAsSuch) {
  const Policy policy = policy_named("unconfined");
  const auto plan = plan_session(policy, full_features(), place_for(policy));
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->forecast.confined);
  EXPECT_EQ(plan->forecast.by, "");
  EXPECT_THAT(plan->forecast.guarantees, IsEmpty());
  EXPECT_EQ(plan->landlock.abi, 0);
  EXPECT_FALSE(plan->seccomp.apply);
  EXPECT_EQ(plan->namespaces.clone_flags, 0U);
  EXPECT_FALSE(plan->hygiene.apply);
  EXPECT_FALSE(plan->hygiene.no_new_privs);
  for (const Layer& each : plan->forecast.layers) {
    EXPECT_FALSE(each.requested) << each.name;
  }
}

TEST(SessionPlan, APlaceWithoutSiblingsIsNoBasisForAPlanWithoutMounts) {
  const Policy policy = policy_named("workspace-write");
  Place place = place_for(policy);
  place.has_siblings = false;
  EXPECT_TRUE(plan_session(policy, full_features(), place));
  EXPECT_FALSE(plan_session(policy, without("namespaces"), place));
}

TEST(SessionPlan, ResourceLimitsFollowThePolicy) {
  Policy policy = policy_named("workspace-write");
  policy.limits = {};
  const auto bare = plan_session(policy, full_features(), place_for(policy));
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->hygiene.rlimits.size(), 2U) << "no core files, bounded locked memory: always";
  const Policy whole = policy_named("workspace-write");
  EXPECT_EQ(plan_session(whole, full_features(), place_for(whole))->hygiene.rlimits.size(), 6U);
}

}  // namespace
}  // namespace bawn::sandbox
