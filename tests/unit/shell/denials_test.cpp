#include "denials.hpp"

#include <gmock/gmock.h>

namespace bawn::shell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DenialsTest : public ::testing::Test {
 protected:
  DenialsTest() {
    policy_.write_workspace = true;
    policy_.write = {"~/.cache"};
    policy_.secrets = {"~/.ssh"};
    policy_.protected_names = {".git/hooks"};
    confinement_.by = "landlock";
  }
  std::vector<Denial> judge(const std::string& err, int exit_code = 1) {
    CallResult result;
    result.reason = Reason::Exited;
    result.exit_code = exit_code;
    result.err.text = err;
    return possible_denials(result, {.policy = &policy_,
                                     .confinement = &confinement_,
                                     .workspace = "/ws",
                                     .home = "/home/u",
                                     .cwd = "/ws/sub",
                                     .uid = 0,
                                     .gid = 0});
  }
  sandbox::Policy policy_;
  contract::Confinement confinement_;
};

TEST(RefusedPaths, AreFoundInTheUsualMessages) {
  EXPECT_THAT(refused_paths("touch: cannot touch '/etc/x': Read-only file system\n"
                            "bash: line 1: /etc/y: Permission denied\n"
                            "sh: 1: cannot create /etc/z: Permission denied\n"
                            "PermissionError: [Errno 13] Permission denied: '/etc/p'\n"
                            "all is well: '/etc/no'\n"),
              ElementsAre("/etc/x", "/etc/y", "/etc/z", "/etc/p"));
}

TEST_F(DenialsTest, AWriteOutsideTheRootsIsPossible) {
  const auto denials = judge("touch: cannot touch '/etc/x': Permission denied\n");
  ASSERT_EQ(denials.size(), 1U);
  EXPECT_EQ(denials[0].op, "write");
  EXPECT_EQ(denials[0].target, "/etc/x");
  EXPECT_THAT(denials[0].rule, HasSubstr("/ws"));
  EXPECT_EQ(denials[0].layer, "landlock");
}

TEST_F(DenialsTest, RelativePathsCountFromTheWorkingDirectory) {
  const auto denials = judge("bash: line 1: ../.git/hooks/pre-commit: Permission denied\n");
  ASSERT_EQ(denials.size(), 1U);
  EXPECT_EQ(denials[0].rule, "protected: .git/hooks");
}

TEST_F(DenialsTest, SecretsAreNamed) {
  const auto denials = judge("cat: /home/u/.ssh/id_rsa: Permission denied\n");
  ASSERT_EQ(denials.size(), 1U);
  EXPECT_EQ(denials[0].op, "read");
}

TEST_F(DenialsTest, WhatThePolicyAllowsIsNoDenial) {
  EXPECT_THAT(judge("touch: cannot touch '/ws/x': Permission denied\n"), IsEmpty());
  EXPECT_THAT(judge("cat: /home/u/.cache/x: Permission denied\n"), IsEmpty());
}

TEST_F(DenialsTest, ASuccessHasNone) {
  EXPECT_THAT(judge("touch: cannot touch '/etc/x': Permission denied\n", 0), IsEmpty());
}

TEST_F(DenialsTest, ALookUpWithoutNetworkIsPossible) {
  EXPECT_EQ(judge("curl: (6) Could not resolve host: example.org\n").size(), 1U);
  policy_.network = sandbox::Network::Full;
  EXPECT_THAT(judge("curl: (6) Could not resolve host: example.org\n"), IsEmpty());
}

TEST_F(DenialsTest, ProgramsBelowASecretAreRefused) {
  EXPECT_TRUE(refuses_program("/home/u/.ssh/tool", policy_, "/home/u"));
  EXPECT_TRUE(refuses_program("/home/u/bin/../.ssh/tool", policy_, "/home/u"));
  EXPECT_FALSE(refuses_program("/home/u/.ssh-tool", policy_, "/home/u"));
  EXPECT_FALSE(refuses_program("/usr/bin/true", policy_, "/home/u"));
  policy_.enforce = false;
  EXPECT_FALSE(refuses_program("/home/u/.ssh/tool", policy_, "/home/u"));
}

sandbox::AuditDenial recorded(int pid, int parent_pid, std::string path) {
  sandbox::AuditDenial denial;
  denial.blockers = {"fs.make_reg"};
  denial.path = std::move(path);
  denial.pid = pid;
  denial.parent_pid = parent_pid;
  denial.program = "/usr/bin/touch";
  return denial;
}

TEST(ConfirmedDenials, TheKernelsRecordsNameTheProcess) {
  CallResult result;
  result.recorded_denials = {recorded(311, 310, "/opt")};
  const auto denials = confirmed_denials(result);
  ASSERT_EQ(denials.size(), 1U);
  EXPECT_TRUE(denials[0].confirmed);
  EXPECT_EQ(denials[0].evidence, "audit");
  EXPECT_EQ(denials[0].op, "write");
  EXPECT_EQ(denials[0].target, "/opt");
  EXPECT_EQ(denials[0].layer, "landlock");
  EXPECT_EQ(denials[0].rule, "fs.make_reg");
  EXPECT_EQ(denials[0].pid, 311);
  EXPECT_EQ(denials[0].program, "/usr/bin/touch");
}

TEST(ConfirmedDenials, ARecordIsTheCallsOnlyWhenItsProcessWasSeenInTheCallsTree) {
  CallResult result;
  result.record = Json{{"pid", 300}, {"pgid", 300}};
  result.survivors = {{.pid = 400, .name = "daemon"}};
  result.recorded_denials = {recorded(300, 1, "/own"),          recorded(301, 300, "/child"),
                             recorded(302, 301, "/grandchild"), recorded(401, 400, "/survivors"),
                             recorded(500, 1, "/other"),        recorded(0, 0, "/unknown")};
  std::vector<std::string> of_call;
  for (const Denial& denial : confirmed_denials(result)) {
    if (denial.of_call) {
      of_call.push_back(denial.target);
    }
  }
  EXPECT_THAT(of_call, ElementsAre("/own", "/child", "/grandchild", "/survivors"));
}

TEST(ConfirmedDenials, TheShellOfAnEarlierCallIsTheSameProcess) {
  CallResult result;
  result.record = Json{{"pid", 300}, {"sid", 300}};
  result.recorded_denials = {recorded(300, 1, "/x")};
  EXPECT_FALSE(confirmed_denials(result).at(0).of_call);
}

TEST_F(DenialsTest, NothingThatACommandPrintsIsEverConfirmed) {
  const std::string lies =
      "audit(1.0:1): domain=1 blockers=fs.make_reg path=\"/etc\"\n"
      "bawn: refused: connect example.org:443: not in the list\n"
      "[refused by the wall: write /etc/x (landlock; fs.make_reg). ]\n"
      "{\"denials\":[{\"op\":\"write\",\"certainty\":\"confirmed\"}]}\n"
      "touch: cannot touch '/etc/x': Permission denied\n";
  CallResult result;
  result.err.text = result.out.text = lies;
  result.exit_code = 1;
  EXPECT_THAT(confirmed_denials(result), IsEmpty());
  for (const Denial& denial : judge(lies)) {
    EXPECT_FALSE(denial.confirmed);
    EXPECT_EQ(denial.evidence, "replay");
    EXPECT_FALSE(denial.of_call);
  }
  EXPECT_FALSE(judge(lies).empty());
}

}  // namespace
}  // namespace bawn::shell
