// What is made of a container's own words about its processes.
#include "exec_warden.hpp"

#include "exec_place.hpp"
#include "exec_route.hpp"
#include "process_line.hpp"

#include <gmock/gmock.h>

#include <string>

namespace bawn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string line(const std::string& mark, int pid, int parent, int sid,
                 const std::string& name = "x", char state = 'S') {
  return mark + "|" + std::to_string(pid) + " (" + name + ") " + state + " " +
         std::to_string(parent) + " " + std::to_string(sid) + " " + std::to_string(sid) +
         " 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 " + std::to_string(1000 + pid) + " 99 7\n";
}

std::vector<int> pids(const std::vector<container::OwnedProcess>& owned) {
  std::vector<int> numbers;
  for (const auto& one : owned) {
    numbers.push_back(one.process.pid);
  }
  return numbers;
}

TEST(ProcessLine, FieldsStandBehindTheLastParenthesis) {
  const auto process = container::process_of(
      "7 (a) R 1 2 (b)) T 3 4 5 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 18446744073709551615 1");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, 7);
  EXPECT_EQ(process->name, "a) R 1 2 (b)");
  EXPECT_EQ(process->state, 'T');
  EXPECT_EQ(process->parent, 3);
  EXPECT_EQ(process->pgid, 4);
  EXPECT_EQ(process->sid, 5);
  EXPECT_EQ(process->start_time, 18446744073709551615U);
}

TEST(ProcessLine, WhatIsNoneIsNotTakenForOne) {
  for (const char* const text :
       {"", "7", "7 (a", "7 a) S 1 1 1", "x (a) S 1 1 1", "7 (a)", "7 (a) ", "-7 (a) S 1 1 1 0",
        "7 (a) S 1 1", "7 (a) S 1 1 1 0 -1 4"}) {
    EXPECT_FALSE(container::process_of(text)) << text;
  }
}

TEST(OwnedProcesses, AreThoseWithTheMarkInTheSessionOrBelow) {
  // A child before its parent, and one that cleared its environment and left the session.
  const std::string listed = line("", 30, 20, 30) + line("12", 10, 1, 10) + line("", 11, 1, 10) +
                             line("3", 20, 1, 20) + line("", 40, 1, 40) + line("", 41, 40, 40) +
                             "rubbish\n|more\n" + line("12", 13, 10, 10, "gone", 'Z');
  const auto owned = container::owned_processes(listed, {{10, {.run = 12, .start_time = 1010}}});
  EXPECT_THAT(pids(owned), ElementsAre(30, 10, 11, 20));
  EXPECT_EQ(owned[0].run, 3U);
  EXPECT_EQ(owned[2].run, 12U);
}

TEST(OwnedProcesses, ASessionThatTheShellDoesNotLeadIsNotItsOwn) {
  EXPECT_THAT(pids(container::owned_processes(line("5", 10, 1, 1) + line("", 1, 0, 1), {})),
              ElementsAre(10));
}

TEST(OwnedProcesses, AShellWhoseNumberIsAnothersByNowLeadsNothing) {
  const std::string listed = line("", 10, 1, 10) + line("", 11, 10, 10);
  EXPECT_THAT(pids(container::owned_processes(listed, {{10, {.run = 1, .start_time = 1010}}})),
              ElementsAre(10, 11));
  EXPECT_THAT(pids(container::owned_processes(listed, {{10, {.run = 1, .start_time = 77}}})),
              ElementsAre());
}

TEST(ShellWord, IsOneWordOnOneLine) {
  EXPECT_EQ(container::shell_word("it's $x\n\\"), R"('it'\''s $x'"$n"'\')");
  EXPECT_EQ(container::shell_word(""), "''");
}

TEST(ExecReport, ClaimsNoGuaranteeThatTheContainerDoesNotGive) {
  sandbox::Inside inside;
  inside.container = "box";
  inside.network = true;
  container::PlaceFacts facts;
  facts.capabilities = {"chown"};
  const auto usual = container::exec_report(facts, inside, false, "no");
  EXPECT_THAT(usual.guarantees, ElementsAre("fs-write", "secrets"));
  EXPECT_EQ(usual.by, "container:box");
  facts.capabilities = {"all"};  // --privileged
  EXPECT_THAT(container::exec_report(facts, inside, false, "no").guarantees, ElementsAre());
  inside.network = false;
  EXPECT_THAT(container::exec_report({}, inside, true, "no").guarantees,
              ElementsAre("fs-write", "secrets", "signals", "lifetime", "network"));
  EXPECT_THAT(container::exec_report(facts, inside, false, "no").guarantees,
              ElementsAre("network"));
}

TEST(ExecReport, AGuaranteeThatIsRequiredAndNotHeldIsNamed) {
  contract::Confinement report;
  report.guarantees = {"fs-write"};
  container::PlaceBounds bounds;
  bounds.require = {sandbox::Guarantee::FsWrite};
  EXPECT_TRUE(container::check_guarantees(report, bounds, "why"));
  bounds.require.push_back(sandbox::Guarantee::KernelSurface);
  const auto refused = container::check_guarantees(report, bounds, "why");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("warden gives: kernel-surface"));
  EXPECT_THAT(refused.error().message(), Not(HasSubstr("fs-write")));
}

}  // namespace
}  // namespace bawn::test
