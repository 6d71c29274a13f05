/// \file
/// A session behind the real wall, and short ways to run things in it.
#pragma once

#include "bawn/shell/session.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <memory>
#include <string>
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
  }

  void start(const std::string& policy) {
    shell::SessionConfig config;
    config.policy = *sandbox::preset(policy);
    config.workspace = workspace_.path();
    config.state_dir = state_.path();
    config.limits = limits_;
    config.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8"};
    auto session = shell::Session::start(config);
    ASSERT_TRUE(session) << session.error().message();
    session_ = *session;
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
  std::shared_ptr<shell::Session> session_;
};

}  // namespace bawn::test
