#include "paths.hpp"

#include "nearest.hpp"

#include <gmock/gmock.h>

namespace bawn::sandbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Paths, AreComparedByWholeSteps) {
  EXPECT_TRUE(is_within("/a/b", "/a"));
  EXPECT_TRUE(is_within("/a", "/a"));
  EXPECT_FALSE(is_within("/ab", "/a"));
  EXPECT_TRUE(is_below("/a", "/"));
  EXPECT_FALSE(is_below("/", "/"));
  EXPECT_FALSE(is_below("/a", "/a"));
}

TEST(Paths, KnowTheirParents) {
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/"), "/");
  EXPECT_THAT(directories_between("/w", "/w/.git/info/x"), ElementsAre("/w/.git", "/w/.git/info"));
  EXPECT_THAT(directories_between("/w", "/w/x"), IsEmpty());
}

TEST(Paths, ASessionsStoreHidesItsNeighbours) {
  EXPECT_EQ(session_store("/run/bawn/sessions/7"), "/run/bawn/sessions");
  EXPECT_EQ(session_store("/tmp/7"), "/tmp/7");
}

TEST(DidYouMean, NamesTheNearestAndKeepsQuietWhenNoneIsNear) {
  const std::vector<std::string> known = {"network", "secrets"};
  EXPECT_EQ(did_you_mean("netwrok", known), "; did you mean \"network\"?");
  EXPECT_EQ(did_you_mean("colour", known), "");
  EXPECT_EQ(did_you_mean(std::string(100000, 'x'), known), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

}  // namespace
}  // namespace bawn::sandbox
