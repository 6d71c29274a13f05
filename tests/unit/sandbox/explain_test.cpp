#include "bawn/sandbox/explain.hpp"

#include "samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::sandbox {
namespace {

using testing::HasSubstr;

class ExplainTest : public ::testing::Test {
 protected:
  ExplainTest() {
    place_.workspace = "/home/ann/project";
    place_.home = "/home/ann";
    place_.writable_roots = {"/home/ann/project"};
    place_.existing_secrets = {"/home/ann/.ssh"};
    place_.existing_protected = {"/home/ann/project/.git/hooks"};
    place_.missing_protected = {"/home/ann/project/.envrc"};
    place_.shared_directories = {"/dev", "/run", "/tmp"};
    place_.masked_paths = {"/proc/kcore"};
  }
  [[nodiscard]] PathVerdict path(const char* path) const {
    return explain_path(policy_, place_, path);
  }

  Policy policy_ = *preset("workspace-write");
  Place place_;
};

TEST_F(ExplainTest, NamesTheMemberThatDecidesAboutAPath) {
  EXPECT_FALSE(path("/home/ann/.ssh/id_rsa").read.allowed);
  EXPECT_EQ(path("/home/ann/.ssh/id_rsa").read.rule, "secrets: /home/ann/.ssh");
  EXPECT_TRUE(path("/etc/passwd").read.allowed);
  EXPECT_FALSE(path("/etc/passwd").write.allowed);
  EXPECT_THAT(path("/etc/passwd").write.rule, HasSubstr("/home/ann/project"));
  EXPECT_TRUE(path("/home/ann/project/src/a.c").write.allowed);
  EXPECT_FALSE(path("/home/ann/project/.git/hooks/pre-commit").write.allowed);
  EXPECT_EQ(path("/home/ann/project/.git/hooks").write.rule,
            "protected_names: /home/ann/project/.git/hooks");
  EXPECT_TRUE(path("/home/ann/project/.envrc").write.allowed);
  EXPECT_THAT(path("/home/ann/project/.envrc").write.rule, HasSubstr("nothing can hold"));
  EXPECT_TRUE(path("/tmp/x").write.allowed);
  EXPECT_THAT(path("/tmp/x").write.rule, HasSubstr("private"));
  EXPECT_FALSE(path("/run/x").write.allowed);
  EXPECT_FALSE(path("/proc/kcore").read.allowed);
  EXPECT_TRUE(path("/home/ann/project2").read.allowed);
  EXPECT_FALSE(path("/home/ann/project2").write.allowed);
}

TEST_F(ExplainTest, NamesTheMemberThatDecidesAboutAHost) {
  EXPECT_FALSE(explain_host(policy_, "example.org", 443)->allowed);
  EXPECT_EQ(explain_host(policy_, "example.org", 443)->rule, "network: none");
  EXPECT_TRUE(explain_host(policy_, "localhost", 8080)->allowed);
  EXPECT_TRUE(explain_host(*preset("open-net"), "example.org", 443)->allowed);
  Policy open = *preset("open-net");
  for (const char* host :
       {"169.254.169.254", "fd00:ec2::254", "100.100.100.200", "::ffff:169.254.169.254"}) {
    EXPECT_FALSE(explain_host(open, host, 80)->allowed) << host;
  }
  EXPECT_TRUE(explain_host(open, "169.254.1.1", 80)->allowed);
  open.hosts = {"169.254.169.254"};
  EXPECT_EQ(explain_host(open, "169.254.169.254", 80)->rule, "hosts: 169.254.169.254");
  EXPECT_FALSE(explain_host(open, "169.254.169.254", 8080)->allowed);
  policy_.network = Network::AllowList;
  policy_.hosts = {"*.example.org"};
  EXPECT_TRUE(explain_host(policy_, "www.Example.org", 443)->allowed);
  EXPECT_FALSE(explain_host(policy_, "www.example.org", 22)->allowed);
  EXPECT_FALSE(explain_host(policy_, "example.com", 443)->allowed);
  const auto bad = explain_host(policy_, "no host", 443);
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().is(ErrorCode::InvalidArgument));
}

}  // namespace
}  // namespace bawn::sandbox
