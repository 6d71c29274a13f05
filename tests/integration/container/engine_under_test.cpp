#include "engine_under_test.hpp"

#include "support/run_program.hpp"

#include <gmock/gmock.h>

#include <grp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace bawn::test {
namespace {

constexpr uid_t kOrdinary = 64321;
constexpr const char* kRootless = "podman-rootless";

}  // namespace

EngineUnderTest engine_under_test() {
  const char* const asked = std::getenv("BAWN_TEST_ENGINE");  // NOLINT(concurrency-mt-unsafe)
  EngineUnderTest engine{.kind = asked != nullptr ? asked : "podman", .folder = {}};
  // Each user has an engine of its own.
  const std::string user = geteuid() == 0 ? "" : "-" + std::to_string(geteuid());
  engine.folder = std::filesystem::path(BAWN_TEST_ENGINE_FOLDER) / (engine.kind + user);
  return engine;
}

std::string become_asked_user(char** argv) {
  const EngineUnderTest engine = engine_under_test();
  if (engine.kind != kRootless || geteuid() != 0) {
    return {};
  }
  const std::string folder = engine.folder.string() + "-" + std::to_string(kOrdinary);
  std::filesystem::create_directories(folder);
  if (::chown(folder.c_str(), kOrdinary, kOrdinary) != 0) {
    return "cannot give the engine's folder away";
  }
  ::setenv("HOME", folder.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no thread yet
  if (::setgroups(0, nullptr) == 0 && ::setresgid(kOrdinary, kOrdinary, kOrdinary) == 0 &&
      ::setresuid(kOrdinary, kOrdinary, kOrdinary) == 0) {
    if (::access(folder.c_str(), W_OK) != 0) {
      return "an ordinary user cannot reach the build folder";
    }
    ::execv("/proc/self/exe", argv);
  }
  return "cannot go on as an ordinary user";
}

const EngineEnvironment& engine_environment() {
  static const EngineEnvironment made = [] {
    EngineEnvironment found;
    const EngineUnderTest engine = engine_under_test();
    const std::string command = engine.kind == kRootless ? "podman" : engine.kind;
    if (engine.kind == kRootless && geteuid() == 0) {
      found.reason = "the tests could not go on as an ordinary user";
      return found;
    }
    const auto result =
        run_program({.argv = {BAWN_TEST_ENGINE_SCRIPT, command, engine.folder.string()}});
    if (result.exit_code != 0) {
      found.reason = result.err.empty() ? "engine.sh gave no reason" : result.err;
      return found;
    }
    std::ifstream file(engine.folder / "env");
    for (std::string line; std::getline(file, line);) {
      found.variables.push_back(line);
    }
    return found;
  }();
  return made;
}

}  // namespace bawn::test

int main(int argc, char** argv) {
  const std::string cannot = bawn::test::become_asked_user(argv);
  if (!cannot.empty()) {
    std::fprintf(stderr, "%s\n", cannot.c_str());
  }
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
