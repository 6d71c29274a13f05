#include "bawn/sandbox/widen.hpp"

#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bawn::sandbox {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class WidenTest : public ::testing::Test {
 protected:
  WidenTest() {
    std::filesystem::create_directories(outside_.path() / "secret");
    outside_.write("secret/key", "k");
    outside_.write("file", "f");
    workspace_.write(".envrc", "");
    policy_.secrets.push_back(outside("secret"));
    place_ = *survey(policy_, workspace_.path().string(), {}, SurveyScope::MountsOnly);
  }
  [[nodiscard]] std::string outside(const char* name) const {
    return std::filesystem::canonical(outside_.path()).string() + "/" + name;
  }
  [[nodiscard]] std::string inside(const char* name) const { return place_.workspace + "/" + name; }
  [[nodiscard]] std::string refusal(const WideningRequest& request) const {
    const auto made = widen(policy_, place_, request);
    EXPECT_FALSE(made);
    if (made) {
      return {};
    }
    EXPECT_TRUE(made.error().is(ErrorCode::InvalidArgument));
    return std::string(made.error().message());
  }

  test::TempDir workspace_;
  test::TempDir outside_;
  Policy policy_ = *preset("workspace-write");
  Place place_;
};

TEST_F(WidenTest, GivesTheDirectoryAndNothingElse) {
  const auto made = widen(policy_, place_, {.write = {outside_.path().string()}});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->write.size(), 1U);
  EXPECT_THAT(made->secrets, IsEmpty());
  Policy expected = policy_;
  expected.write.push_back(made->write.front());
  expected.name += " + granted";
  EXPECT_EQ(policy_id(made->policy), policy_id(expected));
  EXPECT_NE(policy_id(made->policy), policy_id(policy_));
}

TEST_F(WidenTest, GrantsThePlaceThatALinkLeadsToAndNamesIt) {
  std::filesystem::create_symlink(outside_.path(), workspace_.path() / "link");
  const auto made = widen(policy_, place_, {.write = {inside("link")}});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->write, ElementsAre(std::filesystem::canonical(outside_.path()).string()));
}

TEST_F(WidenTest, ASecretIsOpenedAsAWholeAndNamedAsOne) {
  const auto made = widen(policy_, place_, {.read = {outside("secret")}});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->secrets, ElementsAre(outside("secret")));
  EXPECT_THAT(made->policy.secrets, Not(Contains(outside("secret"))));
  EXPECT_THAT(made->policy.secrets, Contains("~/.ssh"));
  EXPECT_THAT(refusal({.read = {outside("secret/key")}}), HasSubstr("only be opened as a whole"));
  EXPECT_THAT(refusal({.write = {outside("secret")}}), HasSubstr("secret"));
}

TEST_F(WidenTest, ADirectoryAboveASecretDoesNotOpenTheSecret) {
  const auto made = widen(policy_, place_, {.write = {outside_.path().string()}});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->policy.secrets, Contains(outside("secret")));
}

TEST_F(WidenTest, AProtectedNameIsNamedAsOne) {
  const auto made = widen(policy_, place_, {.write = {inside(".envrc")}});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->protected_names, ElementsAre(".envrc"));
  EXPECT_THAT(made->write, IsEmpty());
  EXPECT_THAT(made->policy.protected_names, Not(Contains(".envrc")));
  EXPECT_THAT(made->policy.protected_names, Contains(".git/hooks"));
}

TEST_F(WidenTest, HostsOpenAListAndNoMore) {
  const auto made = widen(policy_, place_, {.hosts = {"example.org", "10.0.0.1:5432"}});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->policy.network, Network::AllowList);
  EXPECT_THAT(made->policy.hosts, ElementsAre("example.org", "10.0.0.1:5432"));
  EXPECT_THAT(refusal({.hosts = {"no host!"}}), HasSubstr("host"));
}

TEST_F(WidenTest, WhatCannotBeGivenIsNamed) {
  EXPECT_THAT(refusal({}), HasSubstr("names 1 to 16"));
  EXPECT_THAT(refusal({.write = {"relative"}}), HasSubstr("must begin with /"));
  EXPECT_THAT(refusal({.write = {"/no/such/place"}}), HasSubstr("does not exist"));
  EXPECT_THAT(refusal({.write = {"/"}}), HasSubstr("never writable"));
  EXPECT_THAT(refusal({.write = {"/proc"}}), HasSubstr("never writable"));
  EXPECT_THAT(refusal({.write = {outside("file")}}), HasSubstr("no directory"));
  EXPECT_THAT(refusal({.write = {place_.workspace}}), HasSubstr("without asking"));
  EXPECT_THAT(refusal({.read = {"/etc/hostname"}}), HasSubstr("without asking"));
  EXPECT_THAT(refusal({.write = {std::string("/a\0b", 4)}}), HasSubstr("must begin"));
  EXPECT_THAT(refusal({.write = {"/no\x1b[2J"}}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(refusal({.write = std::vector<std::string>(17, "/etc")}), HasSubstr("1 to 16"));
  policy_ = *preset("unconfined");
  EXPECT_THAT(refusal({.write = {"/etc"}}), HasSubstr("no wall"));
}

}  // namespace
}  // namespace bawn::sandbox
