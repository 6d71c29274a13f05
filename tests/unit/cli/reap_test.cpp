#include "reap.hpp"

#include "bawn/contract/json.hpp"
#include "bawn/os/procfs.hpp"
#include "support/numbered_process.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

namespace bawn::cli {
namespace {

/// A process that only waits; ended with the test.
class Sleeper {
 public:
  Sleeper() {
    std::array<char*, 3> argv = {const_cast<char*>("sleep"), const_cast<char*>("600"), nullptr};
    EXPECT_EQ(::posix_spawnp(&pid_, "sleep", nullptr, nullptr, argv.data(), environ), 0);
  }
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] std::uint64_t start_time() const { return os::start_time(pid_).value_or(0); }
  /// Blocks until it ended by the signal; false when it still runs.
  [[nodiscard]] bool was_killed() const {
    siginfo_t info{};
    // A killed process can be waited for at once or very soon; one that was spared never.
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0 &&
           info.si_code == CLD_KILLED;
  }
  [[nodiscard]] bool runs() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
           info.si_pid == 0;
  }

 private:
  pid_t pid_ = -1;
};

std::string record(const std::string& boot, int pid, std::uint64_t start_time) {
  const contract::Json json = {
      {"namespace", "shell:process-group"},
      {"data", {{"boot_id", boot}, {"warden_pid", pid}, {"warden_start_time", start_time}}}};
  return contract::dump_json(json) + "\n";
}

/// A server's file whose number belongs to nobody with that start time.
constexpr const char* kDeadServer = "1-123456789012.jsonl";

TEST(EndLeftBehindTest, EndsWhatADeadServersRecordNamesAndRemovesTheFile) {
  const test::TempDir folder;
  const Sleeper left;
  const auto file = folder.write(
      kDeadServer, "half a li\n" + record(*os::boot_id(), left.pid(), left.start_time()));
  end_left_behind(folder.path().string());
  EXPECT_TRUE(left.was_killed());
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(EndLeftBehindTest, SparesAReusedNumberAndAnotherBoot) {
  const test::TempDir folder;
  const Sleeper other;
  folder.write(kDeadServer, record(*os::boot_id(), other.pid(), other.start_time() + 1) +
                                record("another boot", other.pid(), other.start_time()));
  end_left_behind(folder.path().string());
  EXPECT_TRUE(other.runs());
}

TEST(EndLeftBehindTest, SparesAStrangerWhoGotTheNumberOfWhatWasLeft) {
  BAWN_REQUIRE("root");
  const test::TempDir folder;
  int number = 0;
  std::uint64_t start_time = 0;
  {
    const Sleeper left;
    number = left.pid();
    start_time = left.start_time();
  }
  test::await_later_tick(start_time);
  const auto stranger = test::NumberedProcess::start(number);
  if (!stranger && (errno == EPERM || errno == ENOSYS)) {
    GTEST_SKIP() << "no process may choose its number here";
  }
  ASSERT_TRUE(stranger) << "the number " << number << " could not be had again";
  folder.write(kDeadServer, record(*os::boot_id(), number, start_time));
  end_left_behind(folder.path().string());
  EXPECT_TRUE(stranger->runs());
  folder.write(kDeadServer, record(*os::boot_id(), number, *os::start_time(number)));
  end_left_behind(folder.path().string());
  EXPECT_TRUE(stranger->was_killed()) << "the control: a record of its own";
}

TEST(EndLeftBehindTest, LeavesALivingServersFileAlone) {
  const test::TempDir folder;
  const Sleeper child;
  const std::string name =
      std::to_string(::getpid()) + "-" + std::to_string(*os::start_time(::getpid())) + ".jsonl";
  const auto file = folder.write(name, record(*os::boot_id(), child.pid(), child.start_time()));
  end_left_behind(folder.path().string());
  EXPECT_TRUE(child.runs());
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(EndLeftBehindTest, IgnoresWhatIsNoRecordFile) {
  const test::TempDir folder;
  const auto file = folder.write("notes.txt", "mine");
  end_left_behind(folder.path().string());
  end_left_behind((folder.path() / "missing").string());
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(EndLeftBehindTest, OnlyLookingEndsAndRemovesNothing) {
  const test::TempDir folder;
  const Sleeper left;
  const auto file =
      folder.write(kDeadServer, record(*os::boot_id(), left.pid(), left.start_time()));
  const auto found = end_left_behind(folder.path().string(), Reap::OnlyLook);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].process.pid, left.pid());
  EXPECT_FALSE(found[0].ended);
  EXPECT_TRUE(left.runs());
  EXPECT_TRUE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace bawn::cli
