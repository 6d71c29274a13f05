/// \file
/// An engine that tests may use, and places opened with it.
#pragma once

#include "bawn/container/place.hpp"
#include "bawn/os/procfs.hpp"
#include "engine_under_test.hpp"
#include "support/requirements.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bawn::test {

inline constexpr const char* kImage = "localhost/bawn-test:1";

/// First line of a test that opens containers.
#define BAWN_REQUIRE_ENGINE()                                                                \
  do {                                                                                       \
    if (const auto& engine = ::bawn::test::engine_environment(); engine.variables.empty()) { \
      const std::string wanted = ::bawn::test::engine_under_test().kind;                     \
      if (::bawn::test::is_required(wanted)) {                                               \
        FAIL() << "required by BAWN_TEST_REQUIRE: " << wanted << ": " << engine.reason;      \
      }                                                                                      \
      GTEST_SKIP() << "needs " << wanted << ": " << engine.reason;                           \
    }                                                                                        \
  } while (false)

class OpenPlace : public ::testing::Test {
 protected:
  void SetUp() override {
    BAWN_REQUIRE_ENGINE();
    BAWN_REQUIRE("landlock");
    auto addresses = container::find_engines(engine_environment().variables);
    ASSERT_FALSE(addresses.empty());
    auto engine = container::Engine::connect(contract::Context(), addresses.front(),
                                             engine_environment().variables);
    ASSERT_TRUE(engine) << engine.error().message();
    setup_.engine = *engine;
    auto version = setup_.engine->version(contract::Context());
    ASSERT_TRUE(version) << version.error().message();
    setup_.version = *version;
    setup_.state_dir = state_.path();
    setup_.bounds = {.workspace = std::filesystem::canonical(workspace_.path()),
                     .write_workspace = true,
                     .network = false};
    if (geteuid() == 0) {
      ASSERT_EQ(chown(workspace_.path().c_str(), 1000, 1000), 0);
    }
  }
  void TearDown() override {
    session_.reset();
    if (place_ != nullptr) {
      EXPECT_TRUE(place_->close(contract::Context()));
    }
  }

  /// A name that no other test has.
  static std::string fresh_name() {
    static int count = 0;
    return "bawn-test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  }
  container::PlaceSpec spec() const {
    container::PlaceSpec spec;
    spec.name = fresh_name();
    spec.image = kImage;
    spec.mounts = {{.source = ".", .target = "/workspace"}};
    return spec;
  }
  void open(container::PlaceSpec wanted, shell::SessionConfig config = {}) {
    auto place = container::Place::open(contract::Context(), std::move(wanted), setup_);
    ASSERT_TRUE(place) << place.error().message();
    place_ = *place;
    config.limits.stop_grace = std::chrono::milliseconds(300);
    auto session = place_->start_session(std::move(config));
    ASSERT_TRUE(session) << session.error().message();
    session_ = *session;
  }
  void open() { open(spec()); }
  /// As if the engine were another machine's: nothing can be mounted, the warden is copied in.
  void open_elsewhere(container::PlaceSpec wanted) {
    setup_.version.shares_files = false;
    wanted.mounts.clear();
    open(std::move(wanted));
  }
  /// What the engine's command line answers.
  ProgramResult engine_says(std::vector<std::string> words) const {
    const auto& address = setup_.engine->address();
    ProgramRun run;
    run.argv = {address.command};
    run.argv.insert(run.argv.end(), address.options.begin(), address.options.end());
    run.argv.insert(run.argv.end(), words.begin(), words.end());
    for (const std::string& entry : setup_.engine->environment()) {
      run.env[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
    }
    return run_program(run);
  }
  /// Kills the engine's commands that this process started and that run; returns how many.
  static int kill_engine_command() {
    int killed = 0;
    for (const int pid : os::descendants(getpid())) {
      const auto words = os::read_proc_file("/proc/" + std::to_string(pid) + "/cmdline");
      if (words && (words->find("podman") != std::string::npos ||
                    words->find("docker") != std::string::npos)) {
        killed += ::kill(pid, SIGKILL) == 0 ? 1 : 0;
      }
    }
    return killed;
  }
  /// Calls until the place's end, which is under way, is seen.
  contract::Result<shell::CallResult> run_until_refused() {
    const auto latest = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (;;) {
      shell::BashRequest request;
      request.command = "true";
      auto result = session_->run(contract::Context(), std::move(request));
      if (!result || std::chrono::steady_clock::now() > latest) {
        return result;
      }
    }
  }
  /// Whether the engine still knows a container of that name.
  bool exists(const std::string& name) const {
    const auto found = setup_.engine->inspect(contract::Context(), name);
    EXPECT_TRUE(found) << (found ? "" : found.error().message());
    return found && found->has_value();
  }

  shell::CallResult run(shell::BashRequest request,
                        const contract::Context& context = contract::Context()) {
    auto result = session_->run(context, std::move(request));
    EXPECT_TRUE(result) << (result ? "" : result.error().message());
    return result ? *std::move(result) : shell::CallResult{};
  }
  shell::CallResult sh(std::string command) {
    shell::BashRequest request;
    request.command = std::move(command);
    return run(std::move(request));
  }

  TempDir workspace_;
  TempDir state_;
  container::PlaceSetup setup_;
  std::shared_ptr<container::Place> place_;
  std::shared_ptr<shell::Session> session_;
};

}  // namespace bawn::test
