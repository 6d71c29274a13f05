#include "answer.hpp"

#include "read_back.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::container {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(AnswerTest, FindsWhatIsThereAndNothingElse) {
  const Json answer = *contract::parse_json(R"({"A":{"B":"text","C":[1]},"D":5})");
  EXPECT_EQ(text_at(answer, "/A/B"), "text");
  EXPECT_EQ(list_at(answer, "/A/C").size(), 1U);
  EXPECT_EQ(value_at(answer, ""), answer);
  for (const char* const path : {"/A/B/C", "/D/E", "/X", "/A/C/0", "//", "/"}) {
    EXPECT_TRUE(value_at(answer, path).is_null()) << path;
    EXPECT_EQ(text_at(answer, path), "") << path;
    EXPECT_THAT(list_at(answer, path), IsEmpty()) << path;
  }
}

TEST(FactsOfTest, WhatTheEngineDoesNotSayCountsAsNotHeld) {
  for (const char* const body :
       {"{}", "[]", "7", R"({"HostConfig":[]})",
        R"({"HostConfig":{"Memory":-1,"PidsLimit":"many","CpuQuota":{}}})"}) {
    const PlaceFacts facts = facts_of(*contract::parse_json(body));
    EXPECT_FALSE(facts.memory_bytes) << body;
    EXPECT_FALSE(facts.processes) << body;
    EXPECT_FALSE(facts.cpus) << body;
    EXPECT_FALSE(facts.read_only_root) << body;
    EXPECT_FALSE(facts.own_network) << body;
    EXPECT_THAT(facts.capabilities, Contains("setuid")) << body;
  }
}

TEST(FactsOfTest, ReadsLimitsCapabilitiesAndPrivileges) {
  const PlaceFacts facts = facts_of(*contract::parse_json(
      R"({"HostConfig":{"Memory":268435456,"PidsLimit":64,"NanoCpus":1500000000,)"
      R"("ReadonlyRootfs":true,"CapDrop":["ALL"],"CapAdd":["CAP_CHOWN"],"NetworkMode":"none",)"
      R"("SecurityOpt":["no-new-privileges"]}})"));
  EXPECT_EQ(facts.memory_bytes, 268435456U);
  EXPECT_EQ(facts.processes, 64U);
  EXPECT_DOUBLE_EQ(facts.cpus.value_or(0), 1.5);
  EXPECT_TRUE(facts.read_only_root);
  EXPECT_THAT(facts.capabilities, ElementsAre("chown"));
  EXPECT_TRUE(facts.no_new_privileges);
  EXPECT_TRUE(facts.engine_seccomp);
  EXPECT_TRUE(facts.own_network);
}

TEST(FactsOfTest, APrivilegedContainerHoldsNothing) {
  const PlaceFacts facts =
      facts_of(*contract::parse_json(R"({"HostConfig":{"Privileged":true,"NetworkMode":"host"}})"));
  EXPECT_THAT(facts.capabilities, ElementsAre("all"));
  EXPECT_FALSE(facts.engine_seccomp);
  EXPECT_FALSE(facts.own_network);
}

TEST(WritablePlacesOfTest, AreMountsAndTemporaryOnesBehindAReadOnlyRoot) {
  const auto places = writable_places_of(*contract::parse_json(
      R"({"HostConfig":{"ReadonlyRootfs":true,"Tmpfs":{"/scratch":""}},)"
      R"("Mounts":[{"Destination":"/data","RW":true},{"Destination":"/ro","RW":false},)"
      R"({"Destination":"odd","RW":true},5]})"));
  EXPECT_THAT(places, Contains("/scratch"));
  EXPECT_THAT(places, Contains("/data"));
  EXPECT_THAT(places, Not(Contains("/ro")));
  EXPECT_THAT(places, Not(Contains("odd")));
  EXPECT_THAT(writable_places_of(*contract::parse_json("{}")), ElementsAre("/"));
}

}  // namespace
}  // namespace bawn::container
