#include "support/requirements.hpp"

#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <vector>

namespace bawn::test {
namespace {

using Missing = std::optional<std::string>;

Missing run_quietly(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (auto& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == 0 ? 0 : 1, 0);
  }
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return words.front() + ": " + std::strerror(failed);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return std::nullopt;
  }
  return words.front() + " failed here";
}

Missing need_root() {
  return ::geteuid() == 0 ? std::nullopt : Missing("the tests do not run as root");
}

Missing need_user_namespaces() {
  return run_quietly({"unshare", "--user", "--map-root-user", "true"});
}

Missing need_landlock() {
  constexpr long kCreateRuleset = 444;
  constexpr unsigned kVersion = 1;
  if (::syscall(kCreateRuleset, nullptr, 0, kVersion) > 0) {
    return std::nullopt;
  }
  return std::string("landlock_create_ruleset: ") + std::strerror(errno);
}

Missing need_seccomp() {
  return std::filesystem::exists("/proc/sys/kernel/seccomp/actions_avail")
             ? std::nullopt
             : Missing("the kernel has no seccomp filters");
}

Missing need_program(std::string_view name) {
  return run_quietly({std::string(name), "--version"});
}

Missing need_shared_vectors() {
  const char* dir = std::getenv("BAWN_VECTORS");  // NOLINT(concurrency-mt-unsafe): read only
  if (dir != nullptr && std::filesystem::is_directory(dir)) {
    return std::nullopt;
  }
  return "BAWN_VECTORS names no folder";
}

}  // namespace

Missing missing_requirement(std::string_view name) {
  static const std::map<std::string_view, Missing (*)()> kProbes = {
      {"root", need_root},
      {"user-namespaces", need_user_namespaces},
      {"landlock", need_landlock},
      {"seccomp", need_seccomp},
      {"shared-vectors", need_shared_vectors},
  };
  const auto probe = kProbes.find(name);
  return probe != kProbes.end() ? probe->second() : need_program(name);
}

bool is_required(std::string_view name) {
  const char* list = std::getenv("BAWN_TEST_REQUIRE");  // NOLINT(concurrency-mt-unsafe): read only
  const std::string words = "," + std::string(list != nullptr ? list : "") + ",";
  return words == ",all," || words.find("," + std::string(name) + ",") != std::string::npos;
}

}  // namespace bawn::test
