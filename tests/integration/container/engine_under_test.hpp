/// \file
/// The engine that this run of the tests is about: BAWN_TEST_ENGINE in the environment is "podman"
/// (also when it is not set), "docker", or "podman-rootless", for which a program that root started
/// goes on as an ordinary user.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bawn::test {

/// Where the engines of all runs have their settings, one folder each.
struct EngineUnderTest {
  std::string kind;              ///< as asked for
  std::filesystem::path folder;  ///< its settings
};
EngineUnderTest engine_under_test();

/// For a run that wants an ordinary user and has root: starts this program anew as one. Returns
/// when there is nothing to do, or with the reason why it cannot.
std::string become_asked_user(char** argv);

/// The environment that leads to the engine; `reason` says why there is none.
struct EngineEnvironment {
  std::vector<std::string> variables;
  std::string reason;
};
/// Made once for all tests of a build folder. Blocking: seconds, the first time.
const EngineEnvironment& engine_environment();

}  // namespace bawn::test
