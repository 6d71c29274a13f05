#include "bawn/sandbox/policy.hpp"

#include <gmock/gmock.h>

namespace bawn::sandbox {
namespace {

using contract::parse_json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string refusal(const char* text) {
  const auto json = parse_json(text);
  EXPECT_TRUE(json) << json.error().message();
  const auto policy = policy_from_json(*json);
  EXPECT_FALSE(policy) << text;
  EXPECT_EQ(policy.error().code(), ErrorCode::InvalidArgument);
  return policy ? "" : policy.error().message();
}

TEST(Preset, EachKnownNameHasOne) {
  for (const std::string& name : preset_names()) {
    const auto policy = preset(name);
    ASSERT_TRUE(policy);
    EXPECT_EQ(policy->name, name);
  }
}

TEST(Preset, SayWhatTheirNamesSay) {
  EXPECT_FALSE(preset("read-only")->write_workspace);
  EXPECT_EQ(preset("read-only")->network, Network::None);
  EXPECT_TRUE(preset("workspace-write")->write_workspace);
  EXPECT_EQ(preset("workspace-write")->network, Network::None);
  EXPECT_EQ(preset("open-net")->network, Network::Full);
  EXPECT_FALSE(preset("unconfined")->enforce);
  EXPECT_THAT(preset("workspace-write")->secrets, Contains("~/.ssh"));
  EXPECT_THAT(preset("workspace-write")->require, Contains(Guarantee::Network));
  EXPECT_THAT(preset("open-net")->require, Not(Contains(Guarantee::Network)));
}

TEST(Preset, AnUnknownNameIsAnsweredWithTheNearest) {
  const auto policy = preset("workspace-rite");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code(), ErrorCode::NotFound);
  EXPECT_EQ(policy.error().message(),
            "there is no policy \"workspace-rite\"; did you mean \"workspace-write\"?; known are "
            "read-only, workspace-write, workspace-net, open-net, unconfined");
}

TEST(Preset, WorkspaceNetReachesNoHostUntilSomeAreNamed) {
  const auto policy = preset("workspace-net");
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->network, Network::AllowList);
  EXPECT_TRUE(policy->hosts.empty());
  EXPECT_THAT(policy->require, testing::Contains(Guarantee::Network));
}

TEST(PolicyJson, HostsAreReadWhenThePolicyIs) {
  const auto read = [](const char* text) { return policy_from_json(Json::parse(text)); };
  EXPECT_TRUE(read(R"({"extends":"workspace-net","hosts":["*.example.org:443","10.0.0.0/8:*"],
                       "host_addresses":{"db.test":"127.0.0.1:5432"}})"));
  EXPECT_THAT(read(R"({"extends":"workspace-net","hosts":["https://x.org/"]})").error().message(),
              HasSubstr("policy member hosts[0]"));
  EXPECT_THAT(
      read(R"({"extends":"workspace-net","host_addresses":{"db.test":"other"}})").error().message(),
      HasSubstr("host_addresses.db.test"));
  EXPECT_THAT(read(R"({"extends":"workspace-write","hosts":["x.org"]})").error().message(),
              HasSubstr("allow-list"));
}

TEST(PolicyJson, EveryPresetComesBackAsItWas) {
  for (const std::string& name : preset_names()) {
    const Policy policy = *preset(name);
    const auto again = policy_from_json(to_json(policy));
    ASSERT_TRUE(again) << name << ": " << again.error().message();
    EXPECT_EQ(to_json(*again), to_json(policy));
    EXPECT_EQ(policy_id(*again), policy_id(policy));
  }
}

TEST(PolicyJson, ExtendsStartsFromAPreset) {
  const auto policy = policy_from_json(*parse_json(
      R"({"extends": "workspace-write", "name": "mine", "network": "full",
          "limits": {"processes": 64, "memory_bytes": null}})"));
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_EQ(policy->name, "mine");
  EXPECT_EQ(policy->network, Network::Full);
  EXPECT_EQ(policy->limits.processes, 64U);
  EXPECT_FALSE(policy->limits.memory_bytes);
  EXPECT_EQ(policy->limits.open_files, preset("workspace-write")->limits.open_files);
  EXPECT_THAT(policy->secrets, Contains("~/.ssh"));
}

TEST(PolicyJson, UnknownMembersAreRefusedWithTheNearestKnownOne) {
  EXPECT_EQ(refusal(R"({"extends": "read-only", "netwrok": "none"})"),
            "policy member netwrok is not known; did you mean \"network\"?");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "limits": {"memory": 1}})"),
            "policy member limits.memory is not known");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "limits": {"procesess": 1}})"),
            "policy member limits.procesess is not known; did you mean \"processes\"?");
}

TEST(PolicyJson, WrongValuesAreNamedByTheirPath) {
  EXPECT_EQ(refusal(R"({"extends": "read-only", "network": "ful"})"),
            "policy member network must be one of none, loopback, allow-list, full; did you mean "
            "\"full\"?");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "best_effort": 1})"),
            "policy member best_effort must be true or false");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "secrets": ["~/.ssh", 3]})"),
            "policy member secrets[1] must be a text that is not empty");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "write": ["relative"]})"),
            "policy member write[0] must begin with / or ~/");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "write": ["/a/../etc"]})"),
            "policy member write[0] must hold no \"..\", \".\" or empty step");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "write": ["/"]})"),
            "policy member write[0] must name something below / or ~/");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "secrets": ["/a", "~/b/"]})"),
            "policy member secrets[1] must not end with a slash");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "protected_names": ["../x"]})"),
            "policy member protected_names[0] must be relative to a writable root and hold no "
            "\"..\", \".\" or empty step");
  EXPECT_EQ(refusal(R"({"extends": "read-only", "limits": {"processes": 0}})"),
            "policy member limits.processes must be a whole number above 0, or null for no limit");
  EXPECT_EQ(
      refusal(R"({"extends": "read-only", "require": ["fs-writ"]})"),
      "policy member require[0] must be one of fs-write, secrets, network, signals, lifetime, "
      "kernel-surface; did you mean \"fs-write\"?");
}

TEST(PolicyJson, NeedsANameOrAPreset) {
  EXPECT_THAT(refusal("{}"), HasSubstr("name is missing"));
  EXPECT_EQ(refusal("[]"), "a policy must be an object");
  const auto unknown = policy_from_json(*parse_json(R"({"extends": "read-olny"})"));
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message(), HasSubstr("did you mean \"read-only\"?"));
}

TEST(PolicyJson, EnforcementCannotBeSwitchedOffUnderAnotherName) {
  EXPECT_EQ(refusal(R"({"extends": "workspace-write", "enforce": false})"),
            "policy member enforce may be false only in the preset unconfined");
}

TEST(PolicyId, FollowsEveryMember) {
  Policy policy = *preset("workspace-write");
  const std::string before = policy_id(policy);
  EXPECT_THAT(before, testing::MatchesRegex("sha256:[0-9a-f]{64}"));
  policy.limits.open_files = 17;
  EXPECT_NE(policy_id(policy), before);
}

}  // namespace
}  // namespace bawn::sandbox
