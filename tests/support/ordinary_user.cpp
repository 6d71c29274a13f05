#include "support/ordinary_user.hpp"

#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace bawn::test {

namespace {

constexpr unsigned kNobody = 65534;
constexpr const char* kBase = "BAWN_TEST_BASE";

}  // namespace

std::filesystem::path visible_base() {
  const char* const given = std::getenv(kBase);  // NOLINT(concurrency-mt-unsafe)
  const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  if (given != nullptr || ::geteuid() == 0 || home == nullptr) {
    return given != nullptr ? given : "/var/lib";
  }
  return home;
}

int swap_writes(int usual) {
  const char* const asked = std::getenv("BAWN_SWAP_WRITES");  // NOLINT(concurrency-mt-unsafe)
  return asked != nullptr ? std::atoi(asked) : usual;
}

int run_as_ordinary_user(const std::string& filter) {
  const TempDir base("/var/lib");
  ::chown(base.path().c_str(), kNobody, kNobody);
  const std::string option = "--gtest_filter=" + filter;
  const std::string log = base.path() / "log";
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::setenv(kBase, base.path().c_str(), 1);             // NOLINT(concurrency-mt-unsafe)
    ::setenv("HOME", base.path().c_str(), 1);            // NOLINT(concurrency-mt-unsafe)
    ::setenv("XDG_STATE_HOME", base.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    ::unsetenv("BAWN_TEST_REQUIRE");  // NOLINT(concurrency-mt-unsafe): "root" is not to be had here
    if (::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
        ::setresuid(kNobody, kNobody, kNobody) == 0) {
      ::execl("/proc/self/exe", "as-ordinary-user", option.c_str(), "--gtest_brief=1", nullptr);
    }
    ::_exit(125);
  }
  int status = -1;
  (void)::waitpid(pid, &status, 0);
  ::close(output);
  if (status != 0) {
    // Not as it is: the word of a skipped test would make this one a skipped one.
    std::istringstream lines(read_file(log));
    for (std::string line; std::getline(lines, line);) {
      if (line.find("SKIPPED") == std::string::npos) {
        ADD_FAILURE() << line;
      }
    }
  }
  return status;
}

}  // namespace bawn::test
