#include "bawn/sandbox/features.hpp"

#include "features_probe.hpp"
#include "kernel_release.hpp"
#include "samples.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace bawn::sandbox {
namespace {

using testing::HasSubstr;

TEST(TakeAway, RemovesWhatTheListNamesAndNothingElse) {
  KernelFeatures features = test::full_features();
  take_away(features, "namespaces,landlock");
  EXPECT_EQ(features.landlock_abi, 0);
  EXPECT_FALSE(features.user_namespace.available);
  EXPECT_FALSE(features.network_namespace.available);
  EXPECT_TRUE(features.seccomp.available);
  EXPECT_THAT(features.uts_namespace.reason, HasSubstr("BAWN_FEATURES_OFF"));
  features = test::full_features();
  take_away(features, "landlocked,,x");
  EXPECT_EQ(features.landlock_abi, 7);
}

TEST(ApplyProbe, AFailedTryMakesTheFeatureUnavailableWithItsStep) {
  KernelFeatures features = test::full_features();
  apply_probe(features, "user ok\nmount ok\npid ok\nnet fail 1 loopback\nproc fail 1 mount\n");
  EXPECT_TRUE(features.user_namespace.available);
  EXPECT_FALSE(features.network_namespace.available);
  EXPECT_EQ(features.network_namespace.reason,
            "a trial net namespace failed at loopback: Operation not permitted");
  EXPECT_FALSE(features.mount_namespace.available) << "of no use without a /proc of its own";
  EXPECT_FALSE(features.pid_namespace.available);
}

TEST(ApplyProbe, CountsLandlockLayersAndExplainsAProcThatIsHiddenInPart) {
  KernelFeatures features = test::full_features();
  apply_probe(features, "layers 3\nlayers\nlayers x\nproc fail 1 mount\n");
  EXPECT_EQ(features.landlock_layers, 3);
  EXPECT_THAT(features.mount_namespace.reason, HasSubstr("unmask=ALL"));
}

TEST(ApplyProbe, UnknownAndBrokenLinesChangeNothing) {
  KernelFeatures features = test::full_features();
  apply_probe(features, "time fail 1 x\n\nuser\nuser maybe\n");
  EXPECT_TRUE(features.user_namespace.available);
}

TEST(AssumeFeatures, KnowsThisKernel) {
  const KernelFeatures features = assume_features();
  EXPECT_NE(features.kernel, "");
  EXPECT_EQ(features.landlock_abi == 0, !features.landlock_reason.empty());
  for (const Feature* feature : {&features.seccomp, &features.user_namespace, &features.audit,
                                 &features.cgroup_v2, &features.seccomp_notify}) {
    EXPECT_EQ(feature->available, feature->reason.empty()) << feature->reason;
  }
}

TEST(AssumeFeatures, HonoursTheHookForWeakerMachines) {
  ::setenv("BAWN_FEATURES_OFF", "landlock,seccomp,namespaces", 1);
  const KernelFeatures features = assume_features();
  ::unsetenv("BAWN_FEATURES_OFF");
  EXPECT_EQ(features.landlock_abi, 0);
  EXPECT_FALSE(features.seccomp.available);
  EXPECT_FALSE(features.user_namespace.available);
}

TEST(ProbeFeatures, FindsNamespacesWhereTheyWork) {
  BAWN_REQUIRE("user-namespaces");
  const KernelFeatures features = probe_features();
  EXPECT_TRUE(features.user_namespace.available) << features.user_namespace.reason;
  EXPECT_TRUE(features.mount_namespace.available) << features.mount_namespace.reason;
}

TEST(KernelAtLeast, ComparesNumbersNotText) {
  EXPECT_TRUE(kernel_at_least("6.14.0", 6, 14));
  EXPECT_TRUE(kernel_at_least("10.2-rc1", 6, 14));
  EXPECT_TRUE(kernel_at_least("6.100", 6, 14));
  EXPECT_FALSE(kernel_at_least("6.9.7-generic", 6, 14));
  EXPECT_FALSE(kernel_at_least("5.99", 6, 14));
  EXPECT_FALSE(kernel_at_least("", 6, 14));
  EXPECT_FALSE(kernel_at_least("6", 6, 0));
  EXPECT_FALSE(kernel_at_least("six.14", 6, 14));
}

}  // namespace
}  // namespace bawn::sandbox
