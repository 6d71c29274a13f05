#include "bawn/container/place_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace bawn::container {
namespace {

using ::testing::HasSubstr;

const PlaceBounds kOpen{.workspace = "/w", .write_workspace = true, .network = true};

PlaceSpec good() {
  PlaceSpec spec;
  spec.name = "box";
  spec.image = "localhost/image:1";
  spec.mounts = {{.source = "src", .target = "/workspace/src"}};
  return spec;
}

/// The sentence that refuses a good spec after one change; empty when it is taken.
std::string refusal(const std::function<void(PlaceSpec&)>& change,
                    const PlaceBounds& bounds = kOpen) {
  PlaceSpec spec = good();
  change(spec);
  const auto checked = check(spec, bounds);
  return checked ? std::string() : checked.error().message();
}

TEST(PlaceSpecTest, TakesWhatIsWithinTheServersWall) {
  EXPECT_EQ(refusal([](PlaceSpec&) {}), "");
  EXPECT_EQ(refusal([](PlaceSpec& spec) { spec.network = PlaceNetwork::Bridge; }), "");
  EXPECT_EQ(refusal([](PlaceSpec& spec) { spec.capabilities = {"CHOWN", "SETUID"}; }), "");
}

TEST(PlaceSpecTest, RefusesNamesThatNoEngineTakes) {
  for (const char* const name : {"", "x", "-x", ".x", "a b", "a/b", "a@b", "a\nb"}) {
    EXPECT_THAT(refusal([&](PlaceSpec& spec) { spec.name = name; }), HasSubstr("name")) << name;
  }
  EXPECT_THAT(refusal([](PlaceSpec& spec) { spec.name = std::string(64, 'a'); }),
              HasSubstr("2 to 48"));
}

TEST(PlaceSpecTest, RefusesImagesThatWouldBeOptions) {
  for (const char* const image : {"", "--privileged", "a b", "a\tb"}) {
    EXPECT_THAT(refusal([&](PlaceSpec& spec) { spec.image = image; }), HasSubstr("image"));
  }
}

TEST(PlaceSpecTest, RefusesMountsThatEnginesWouldReadAsMoreWords) {
  EXPECT_THAT(refusal([](PlaceSpec& spec) { spec.mounts[0].source = "a,readonly=false"; }),
              HasSubstr("mount source"));
  EXPECT_THAT(refusal([](PlaceSpec& spec) { spec.mounts[0].target = "/a,src=/"; }),
              HasSubstr("mount target"));
}

TEST(PlaceSpecTest, RefusesTargetsThatAreTheContainersOwn) {
  for (const char* const target :
       {"/", "relative", "/proc/sys", "/sys", "/dev/x", "/.bawn", "/a/../b", "/a/./b", "//a"}) {
    EXPECT_NE(refusal([&](PlaceSpec& spec) { spec.mounts[0].target = target; }), "") << target;
    EXPECT_NE(refusal([&](PlaceSpec& spec) { spec.workspace = target; }), "") << target;
  }
  EXPECT_EQ(refusal([](PlaceSpec& spec) { spec.mounts[0].target = "/process"; }), "");
}

TEST(PlaceSpecTest, WritesOnlyWhereTheServersPolicyDoes) {
  PlaceBounds bounds = kOpen;
  bounds.write_workspace = false;
  EXPECT_THAT(refusal([](PlaceSpec&) {}, bounds), HasSubstr("read_only"));
  EXPECT_EQ(refusal([](PlaceSpec& spec) { spec.mounts[0].read_only = true; }, bounds), "");
}

TEST(PlaceSpecTest, HasANetworkOnlyWhereTheServersPolicyDoes) {
  PlaceBounds bounds = kOpen;
  bounds.network = false;
  EXPECT_THAT(refusal([](PlaceSpec& spec) { spec.network = PlaceNetwork::Bridge; }, bounds),
              HasSubstr("open-net"));
}

TEST(PlaceSpecTest, KeepsNoCapabilityThatReachesOut) {
  for (const char* const name : {"SYS_ADMIN", "NET_ADMIN", "MKNOD", "ALL", "chown", "CAP_CHOWN"}) {
    EXPECT_THAT(refusal([&](PlaceSpec& spec) { spec.capabilities = {name}; }),
                HasSubstr("capability"))
        << name;
  }
}

TEST(PlaceSpecTest, RefusesTheEnginesFilterToBeSwitchedOff) {
  EXPECT_THAT(refusal([](PlaceSpec& spec) { spec.seccomp_profile = "unconfined"; }),
              HasSubstr("seccomp"));
}

TEST(PlaceSpecTest, BoundsAreSaid) {
  EXPECT_THAT(refusal([](PlaceSpec& spec) { spec.limits.processes = 1; }), HasSubstr("8 and"));
  EXPECT_THAT(refusal([](PlaceSpec& spec) { spec.limits.cpus = 0; }), HasSubstr("processors"));
  EXPECT_THAT(refusal([](PlaceSpec& spec) { spec.limits.memory_bytes = 1; }), HasSubstr("16 MiB"));
}

TEST(PlaceSpecTest, OursAreNoLabelsToSet) {
  EXPECT_NE(refusal([](PlaceSpec& spec) { spec.labels = {{"bawn.place", "x"}}; }), "");
  EXPECT_NE(refusal([](PlaceSpec& spec) { spec.labels = {{"a=b", "x"}}; }), "");
  EXPECT_EQ(refusal([](PlaceSpec& spec) { spec.labels = {{"team", "x"}}; }), "");
  EXPECT_NE(refusal([](PlaceSpec& spec) { spec.environment = {{"A=B", "x"}}; }), "");
}

TEST(PlaceSpecTest, JoinsOnlyContainersThatTheServerNames) {
  PlaceSpec spec;
  spec.name = "theirs";
  spec.existing = "theirs";
  spec.workspace = "";
  PlaceBounds bounds;
  ASSERT_FALSE(check(spec, bounds));
  EXPECT_EQ(check(spec, bounds).error().code(), ErrorCode::PermissionDenied);
  bounds.existing = {"theirs"};
  EXPECT_TRUE(check(spec, bounds));
  spec.mounts = {{.source = ".", .target = "/x"}};
  ASSERT_FALSE(check(spec, bounds));
  EXPECT_EQ(check(spec, bounds).error().code(), ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace bawn::container
