/// \file
/// A session behind the real wall, and short ways to run things in it. With BAWN_TEST_STREAM=pipes
/// in the environment stub and warden are started over a relay, as in a container, with the same
/// plan.
#pragma once

#include "../relay/relay_process.hpp"
#include "bawn/sandbox/protected_watch.hpp"
#include "bawn/sandbox/wall.hpp"
#include "bawn/shell/session.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"
#include "support/tested_bash.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace bawn::test {

class WalledSession : public ::testing::Test {
 protected:
  void SetUp() override {
    limits_.stop_grace = std::chrono::milliseconds(300);
    // Where root starts the session, commands run as the workspace's owner: somebody else.
    if (geteuid() == 0) {
      ASSERT_EQ(chown(workspace_.path().c_str(), kOwner, kOwner), 0);
      ASSERT_EQ(chmod(workspace_.path().c_str(), 0755), 0);
    }
    start("workspace-write");
  }
  void TearDown() override {
    if (session_ != nullptr) {
      session_->close();
    }
    session_.reset();
    wall_ = {};
  }

  void start(const std::string& policy) { start(*sandbox::preset(policy), workspace_); }
  void start(sandbox::Policy policy, const TempDir& workspace) {
    shell::SessionConfig config;
    config.policy = std::move(policy);
    config.workspace = workspace.path();
    config.state_dir = state_.path();
    config.limits = limits_;
    config.bash = tested_bash_in(workspace_.path()).value_or(config.bash);
    config.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8"};
    auto session = over_pipes() ? start_over(config) : shell::Session::start(config);
    ASSERT_TRUE(session) << session.error().message();
    session_ = *session;
  }

  [[nodiscard]] static bool over_pipes() {
    const char* const stream = std::getenv("BAWN_TEST_STREAM");
    return stream != nullptr && std::string_view(stream) == "pipes";
  }

  /// What Session::start does, with directory, stub and warden behind a relay.
  contract::Result<std::shared_ptr<shell::Session>> start_over(const shell::SessionConfig& config) {
    if (relay_ == nullptr) {
      relay_ = std::make_unique<RelayProcess>(BAWN_WARDEN);
    }
    const sandbox::Place place =
        BAWN_TRY(sandbox::survey(config.policy, config.workspace, std::string()));
    shell::Session::RemotePlace remote;
    remote.uid = place.uid;
    remote.gid = place.gid;
    remote.name = "test";
    remote.directory =
        BAWN_TRY(shell::Session::prepare_directory(*relay_->relay(), place.uid, place.gid));
    directory_ = remote.directory;
    sandbox::WallRequest request;
    request.policy = config.policy;
    request.workspace = place.workspace;
    request.session_dir = remote.directory;
    request.warden.relay = relay_->relay();
    wall_ = BAWN_TRY(sandbox::raise_wall(request));
    remote.warden = std::move(wall_.warden);
    auto environment =
        sandbox::session_environment(config.policy, wall_.plan, config.environment, 0);
    return shell::Session::start_over(config, std::move(remote), std::move(environment));
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
  /// Starts it, waits until it printed `bytes`, stops it, and gives its result.
  shell::CallResult stopped(const std::string& command, std::uint64_t bytes) {
    shell::BashRequest request;
    request.command = command;
    request.yield = std::chrono::milliseconds(0);
    auto result = run(std::move(request));
    shell::OutputRequest look;
    look.call = result.call;
    look.wait = std::chrono::milliseconds(0);
    look.out_from = 0;
    while (result.out.bytes < bytes && result.state == shell::CallState::Running) {
      result = *session_->output(contract::Context(), look);
    }
    EXPECT_TRUE(session_->stop(result.call));
    look.wait.reset();
    return *session_->output(contract::Context(), look);
  }

  static constexpr uid_t kOwner = 4242;
  shell::SessionLimits limits_;
  TempDir workspace_;
  TempDir state_;
  std::unique_ptr<RelayProcess> relay_;
  sandbox::Wall wall_;
  std::string directory_;  ///< of a session over pipes
  std::shared_ptr<shell::Session> session_;
};

}  // namespace bawn::test
