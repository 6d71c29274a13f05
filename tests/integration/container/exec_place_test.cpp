// Containers that bawn's warden cannot run in: each call is one exec of the engine. Here the warden
// is a program for another machine.
#include "joined_place.hpp"

#include <gmock/gmock.h>

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace bawn::test {
namespace {

using namespace std::literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class ExecPlaceTest : public JoinedPlaceTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(JoinedPlaceTest::SetUp());
    if (IsSkipped()) {
      return;
    }
    Elf64_Ehdr head{};
    std::copy_n(ELFMAG, SELFMAG, head.e_ident);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    head.e_type = ET_EXEC;
    head.e_machine = EM_S390;
    setup_.warden = (state_.path() / "foreign-warden").string();
    std::ofstream(setup_.warden, std::ios::binary)
        .write(reinterpret_cast<const char*>(&head), sizeof head);
    ASSERT_EQ(chmod(setup_.warden.c_str(), 0755), 0);
  }
  void join(std::vector<std::string> options = {}) {
    ASSERT_NO_FATAL_FAILURE(start_theirs(std::move(options)));
    ASSERT_NO_FATAL_FAILURE(open(joining()));
    ASSERT_NE(place_->weaker(), "");
  }
  shell::CallResult exec(shell::ExecRequest request,
                         const contract::Context& context = contract::Context()) {
    auto result = session_->exec(context, std::move(request));
    EXPECT_TRUE(result) << (result ? "" : result.error().message());
    return result ? *std::move(result) : shell::CallResult{};
  }
  shell::CallResult exec(std::vector<std::string> argv) {
    shell::ExecRequest request;
    request.argv = std::move(argv);
    return exec(std::move(request));
  }
  /// The names of all that runs in their container but the shell that looks.
  std::string processes() const {
    return engine_says({"exec", theirs_, "sh", "-c",
                        "for p in /proc/[0-9]*; do read -r s <$p/stat && read -r c <$p/comm && "
                        "case $p${s##*)} in /proc/$$' '* | *' Z '*) ;; *) echo $c ;; esac; done "
                        "2>/dev/null"})
        .out;
  }
  bool becomes(const std::string& wanted) const {
    const auto latest = std::chrono::steady_clock::now() + 1min;
    while (processes() != wanted) {
      if (std::chrono::steady_clock::now() > latest) {
        return false;
      }
    }
    return true;
  }
};

TEST_F(ExecPlaceTest, RunsCallsWithStatusStreamsDirectoryAndEnvironment) {
  ASSERT_NO_FATAL_FAILURE(join({"--env", "THEIRS=yes"}));
  const auto both = exec({"sh", "-c", "echo out; echo err >&2; echo $THEIRS; exit 3"});
  EXPECT_EQ(both.out.text, "out\nyes\n");
  EXPECT_EQ(both.err.text, "err\n");
  EXPECT_EQ(both.exit_code, 3);
  shell::ExecRequest request;
  request.argv = {"sh", "-c", "pwd; printf %s \"$WORDS\"; cat"};
  request.cwd = "/var/tmp";
  request.environment = {{"WORDS", "it's \xd0\x81\nof $two \\lines\n"}};
  request.input = std::string("in\0put", 6);
  EXPECT_EQ(exec(request).out.text, "/var/tmp\nit's \xd0\x81\nof $two \\lines\nin\0put"s);
  EXPECT_EQ(exec({"no-such-program"}).exit_code, 127);
  EXPECT_EQ(exec({"sh", "-c", "kill -TERM $$"}).exit_code, 128 + SIGTERM);
  EXPECT_EQ(exec({"sh", "-c", "kill -KILL $$"}).exit_code, 128 + SIGKILL);
  EXPECT_EQ(exec({"sh", "-c", "kill -KILL $$"}).err.text, "");
}

TEST_F(ExecPlaceTest, TextsRunInAShellThatKeepsItsStateAndAreCheckedFirst) {
  ASSERT_NO_FATAL_FAILURE(join());
  EXPECT_EQ(sh("cd /var/tmp; export x=1; echo begun").out.text, "begun\n");
  EXPECT_EQ(sh("echo $PWD $x").out.text, "/var/tmp 1\n");
  const auto broken = sh("echo ran; if true; then");
  EXPECT_EQ(broken.reason, shell::Reason::SyntaxError);
  EXPECT_EQ(broken.out.text, "");
  EXPECT_EQ(sh("exit 5").exit_code, 5);
}

TEST_F(ExecPlaceTest, SaysThatTheContainerAloneHoldsIt) {
  ASSERT_NO_FATAL_FAILURE(join());
  const contract::Confinement& report = session_->confinement();
  EXPECT_EQ(report.by, "container:" + theirs_);
  EXPECT_EQ(report, place_->forecast());
  EXPECT_THAT(report.guarantees, Not(Contains("kernel-surface")));
  EXPECT_THAT(report.guarantees, Not(Contains("lifetime")));
  int absent = 0;
  for (const contract::Layer& layer : report.layers) {
    if (layer.name == "landlock" || layer.name == "seccomp") {
      EXPECT_FALSE(layer.applied);
      EXPECT_THAT(layer.reason, HasSubstr("architecture"));
      ++absent;
    }
  }
  EXPECT_EQ(absent, 2);
  const auto agent = session_->warden()->file_agent();
  ASSERT_FALSE(agent);
  EXPECT_THAT(agent.error().message(), HasSubstr("file tools"));
}

TEST_F(ExecPlaceTest, WhatOnlyTheWardenGivesIsRefused) {
  ASSERT_NO_FATAL_FAILURE(start_theirs({}));
  setup_.bounds.require = {sandbox::Guarantee::FsWrite, sandbox::Guarantee::Lifetime};
  const auto refused = container::Place::open(contract::Context(), joining(), setup_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::Unsupported);
  EXPECT_THAT(refused.error().message(),
              HasSubstr("requires what only the warden gives: lifetime"));
  EXPECT_TRUE(becomes("sleep\n")) << processes();
  setup_.bounds.require = {sandbox::Guarantee::FsWrite, sandbox::Guarantee::Network};
  ASSERT_NO_FATAL_FAILURE(open(joining()));
  shell::ExecRequest request;
  request.argv = {"true"};
  request.read_only = true;
  const auto changing = session_->exec(contract::Context(), request);
  ASSERT_FALSE(changing);
  EXPECT_EQ(changing.error().code(), contract::ErrorCode::Unsupported);
  request.read_only = false;
  request.terminal = shell::TerminalSize{};
  EXPECT_FALSE(session_->exec(contract::Context(), request));
}

TEST_F(ExecPlaceTest, TimeoutEndsWhatTheCallStartedInside) {
  ASSERT_NO_FATAL_FAILURE(join());
  shell::BashRequest request;
  request.command = "sh -c 'sleep 5; touch /tmp/PROOF'";
  request.timeout = 200ms;
  const auto result = run(request);
  EXPECT_EQ(result.reason, shell::Reason::Timeout);
  EXPECT_TRUE(result.survivors.empty());
  EXPECT_EQ(processes().find("sleep", 6), std::string::npos) << processes();
  EXPECT_EQ(sh("ls /tmp/PROOF 2>/dev/null").out.text, "");
}

/// Names in /proc sort 100 before 99: the command of a shell would be ended before the shell.
TEST_F(ExecPlaceTest, NoShellGoesOnWhenItsCommandsNumberSortsBeforeItsOwn) {
  ASSERT_NO_FATAL_FAILURE(join());
  shell::BashRequest request;
  request.command =
      "while n=$(sh -c 'echo $$'); [ $n -lt 97 ]; do :; done; "
      "sh -c 'sh -c \"sleep 5; touch /tmp/PROOF\"; touch /tmp/PROOF'";
  request.timeout = 1s;
  const auto result = run(request);
  EXPECT_EQ(result.reason, shell::Reason::Timeout);
  EXPECT_EQ(sh("ls /tmp/PROOF 2>/dev/null").out.text, "");
}

TEST_F(ExecPlaceTest, CancelEndsWhatIgnoresIntAndTermAndLeftItsSession) {
  ASSERT_NO_FATAL_FAILURE(join());
  shell::ExecRequest request;
  request.argv = {"sh", "-c",
                  "trap '' INT TERM; setsid env -i /usr/bin/sleep 601 & echo up; sleep 602; sleep "
                  "603"};
  request.yield = 0ms;
  const auto begun = exec(request);
  ASSERT_EQ(begun.state, shell::CallState::Running);
  shell::OutputRequest output;
  output.call = begun.call;
  output.until = "up";
  ASSERT_TRUE(session_->output(contract::Context(), output));
  ASSERT_TRUE(session_->stop(begun.call));
  shell::OutputRequest end;
  end.call = begun.call;
  const auto result = session_->output(contract::Context(), end);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, shell::Reason::Cancelled);
  EXPECT_EQ(result->stopped_by, "KILL");
  EXPECT_TRUE(result->survivors.empty());
  EXPECT_EQ(processes().find("sleep", 6), std::string::npos) << processes();
}

TEST_F(ExecPlaceTest, ADetachedChildDoesNotHoldTheCallAndEndsWithTheSession) {
  ASSERT_NO_FATAL_FAILURE(join());
  EXPECT_EQ(sh("setsid sleep 600 & echo done").out.text, "done\n");
  EXPECT_NE(processes().find("sleep", 6), std::string::npos);
  session_.reset();
  EXPECT_EQ(processes().find("sleep", 6), std::string::npos) << processes();
}

TEST_F(ExecPlaceTest, LargeOutputIsExact) {
  ASSERT_NO_FATAL_FAILURE(join());
  const auto result = exec({"sh", "-c", "head -c 10000000 /dev/zero; head -c 70001 /dev/zero >&2"});
  EXPECT_EQ(result.out.bytes, 10000000U);
  EXPECT_EQ(result.err.bytes, 70001U);
  EXPECT_EQ(result.exit_code, 0);
}

TEST_F(ExecPlaceTest, CloseLeavesNothingInTheContainer) {
  ASSERT_NO_FATAL_FAILURE(join());
  EXPECT_EQ(sh("sleep 604 & setsid sleep 605 & echo begun").out.text, "begun\n");
  session_.reset();
  ASSERT_TRUE(place_->close(contract::Context()));
  EXPECT_TRUE(becomes("sleep\n")) << processes();
  const auto left =
      engine_says({"exec", theirs_, "sh", "-c", "ls -A / /tmp /var/tmp /dev/shm /run"});
  EXPECT_EQ(left.out.find(".bawn"), std::string::npos) << left.out;
}

TEST_F(ExecPlaceTest, EngineCommandsThatAreKilledLeaveNothingRunning) {
  ASSERT_NO_FATAL_FAILURE(join());
  EXPECT_EQ(sh("setsid sleep 606 & echo begun").out.text, "begun\n");
  shell::ExecRequest request;
  request.argv = {"sleep", "607"};
  request.yield = 0ms;
  ASSERT_EQ(exec(request).state, shell::CallState::Running);
  ASSERT_GT(kill_engine_command(), 0);  // what the end of this process amounts to
  EXPECT_TRUE(becomes("sleep\n")) << processes();
}

TEST_F(ExecPlaceTest, AContainerWithoutAShellIsRefusedWithASentence) {
  ASSERT_NO_FATAL_FAILURE(start_theirs({"--user", "0"}));
  ASSERT_EQ(engine_says({"exec", theirs_, "rm", "-f", "/usr/bin/sh", "/usr/bin/bash"}).exit_code,
            0);
  const auto refused = container::Place::open(contract::Context(), joining(), setup_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), contract::ErrorCode::Unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("no shell can be run"));
}

TEST_F(ExecPlaceTest, AContainerWithoutAPlaceForProgramsIsJoinedByExecs) {
  if (engine_under_test().kind != "docker") {
    GTEST_SKIP() << "needs docker: podman copies into the root of a running container";
  }
  setup_.warden.clear();  // the real one
  // Docker mounts temporary file systems noexec, and copies nothing into a read-only root.
  ASSERT_NO_FATAL_FAILURE(join({"--read-only", "--tmpfs", "/tmp"}));
  EXPECT_THAT(place_->weaker(), HasSubstr("ermission denied"));
  EXPECT_EQ(sh("cd /tmp; echo $PWD").out.text, "/tmp\n");
}

using ForeignImageTest = ExecPlaceTest;

TEST_F(ForeignImageTest, IsOpenedWithItsOwnShellAsTheMainProcess) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  EXPECT_THAT(place_->weaker(), HasSubstr("cannot run in a container of " + std::string(kImage)));
  EXPECT_EQ(session_->confinement().by, "container:" + place_->spec().name);
  EXPECT_THAT(session_->confinement().guarantees, Contains("lifetime"));
  EXPECT_EQ(sh("id -u; cat /proc/1/comm; echo $IMAGE_SAYS; cd /tmp; x=1").out.text,
            std::to_string(*place_->spec().uid) + "\nsh\nhello\n");
  EXPECT_EQ(sh("echo $PWD $x").out.text, "/tmp 1\n");
  EXPECT_NE(sh("touch /etc/x").exit_code, 0);
  const std::string name = place_->spec().name;
  session_.reset();
  ASSERT_TRUE(place_->close(contract::Context()));
  EXPECT_FALSE(exists(name));
}

TEST_F(ForeignImageTest, GoesWithTheServer) {
  ASSERT_NO_FATAL_FAILURE(open_elsewhere(spec()));
  EXPECT_EQ(sh("setsid sleep 608 & echo begun").out.text, "begun\n");
  ASSERT_GT(kill_engine_command(), 0);
  const std::string name = place_->spec().name;
  const auto latest = std::chrono::steady_clock::now() + 1min;
  while (exists(name) && std::chrono::steady_clock::now() < latest) {
  }
  EXPECT_FALSE(exists(name));
}

}  // namespace
}  // namespace bawn::test
