// The agent is killed at every system call of a commit: the name has the old content or the new
// one, and nothing else is left in its directory.
#include "bawn/os/procfs.hpp"
#include "walled_files.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>

namespace {

using bawn::test::read_file;

const std::string kOld(70000, 'o');
const std::string kNew(90000, 'n');

class FileCrashTest : public bawn::test::WalledFiles {
 protected:
  /// Commits over `name` while this thread follows the only agent and kills it at its stop number
  /// `at` (a system call has two, before and after). False when the commit came first.
  bool commit_and_kill(const std::string& name, int at,
                       const bawn::sandbox::CommitOptions& options) {
    auto staged = files_->stage(now_, name, {});
    EXPECT_TRUE(staged) << staged.error().message();
    EXPECT_EQ(::write((*staged)->fd(), kNew.data(), kNew.size()),
              static_cast<ssize_t>(kNew.size()));
    const int agent = bawn::os::children(wall_.warden->pid()).front();
    if (::ptrace(PTRACE_SEIZE, agent, 0, PTRACE_O_TRACESYSGOOD) != 0) {
      ADD_FAILURE() << "cannot trace the agent: errno " << errno;
      return false;
    }
    // Stopped where it waits for a request, before there is one: none of its steps is missed.
    int status = 0;
    (void)::ptrace(PTRACE_INTERRUPT, agent, 0, 0);
    if (::waitpid(agent, &status, __WALL) != agent || !WIFSTOPPED(status)) {
      ADD_FAILURE() << "the agent did not stop: status " << status;
      return false;
    }
    std::thread committer([&] { committed_ = (*staged)->commit(now_, options).has_value(); });
    (void)::ptrace(PTRACE_SYSCALL, agent, 0, 0);
    const bool killed = step(agent, at);
    committer.join();
    return killed;
  }

  bool committed_ = false;  ///< what the last commit said

 private:
  /// True once it was killed; false when it began to wait for the next request before.
  static bool step(int agent, int at) {
    bool committing = false;
    for (int stop = 0;;) {
      int status = 0;
      if (::waitpid(agent, &status, __WALL) != agent || !WIFSTOPPED(status)) {
        return true;
      }
      if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
        __ptrace_syscall_info info{};
        (void)::ptrace(PTRACE_GET_SYSCALL_INFO, agent, sizeof info, &info);
        const bool entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
        committing = committing || (entry && info.entry.nr == SYS_openat2);
        if (committing && entry && info.entry.nr == SYS_recvmsg) {
          (void)::ptrace(PTRACE_DETACH, agent, 0, 0);
          return false;
        }
        if (committing && stop++ == at) {
          (void)::kill(agent, SIGKILL);
          (void)::waitpid(agent, &status, __WALL);
          return true;
        }
      }
      (void)::ptrace(PTRACE_SYSCALL, agent, 0, 0);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, FileCrashTest,
                         testing::Values(bawn::test::kAllLayers, bawn::test::kNoLayer),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(FileCrashTest, ReplacingLeavesOldOrNew) {
  BAWN_REQUIRE("root");
  int old_left = 0;
  int new_left = 0;
  bool killed = true;
  for (int at = 0; killed; ++at) {
    SCOPED_TRACE(at);
    put(in("a"), kOld);
    killed = commit_and_kill(in("a"), at, {});
    const std::string content = read_file(in("a"));
    ASSERT_EQ(content, committed_ ? kNew : kOld);  // and the answer is the truth
    (killed ? content == kOld ? old_left : new_left : new_left) += 1;
    ASSERT_EQ(shell("ls -A " + workspace_), "a\n");
    ASSERT_LT(at, 200);
  }
  EXPECT_EQ(read_file(in("a")), kNew);
  EXPECT_GT(old_left, 8);  // controls: both happened
  EXPECT_GT(new_left, 2);
}

TEST_P(FileCrashTest, CreatingLeavesNothingOrAll) {
  BAWN_REQUIRE("root");
  bool killed = true;
  for (int at = 0; killed; ++at) {
    SCOPED_TRACE(at);
    std::filesystem::remove(in("a"));
    killed = commit_and_kill(in("a"), at, {.condition = bawn::sandbox::Condition::absent()});
    const std::string listed = shell("ls -A " + workspace_);
    ASSERT_EQ(listed, committed_ ? "a\n" : "");
    ASSERT_EQ(read_file(in("a")), committed_ ? kNew : "");
    ASSERT_LT(at, 200);
  }
  EXPECT_EQ(read_file(in("a")), kNew);
}

}  // namespace
