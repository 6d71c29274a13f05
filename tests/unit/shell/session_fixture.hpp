/// \file
/// A session over the warden without a wall, and short ways to run things in it.
#pragma once

#include "bawn/shell/session.hpp"
#include "fake_warden.hpp"
#include "support/temp_dir.hpp"
#include "support/tested_bash.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace bawn::test {

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    limits_.stop_grace = std::chrono::milliseconds(300);
    start();
  }

  void TearDown() override {
    if (session_ != nullptr) {
      session_->close();
    }
  }

  void start() {
    shell::SessionConfig config;
    config.workspace = workspace_.path();
    config.state_dir = state_.path();
    config.limits = limits_;
    config.kernel_counters = kernel_counters_;
    config.bash = tested_bash().value_or(config.bash);
    warden_ = FakeWarden::make();
    auto directory = shell::Session::prepare_directory(config.state_dir, geteuid(), getegid());
    ASSERT_TRUE(directory) << directory.error().message();
    auto session =
        shell::Session::start_inside(config, *directory, warden_,
                                     {"PATH=/usr/local/bin:/usr/bin:/bin",
                                      "HOME=" + workspace_.path().string(), "LANG=C.UTF-8"});
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
  shell::CallResult exec(std::vector<std::string> argv) {
    shell::ExecRequest request;
    request.argv = std::move(argv);
    auto result = session_->exec(contract::Context(), std::move(request));
    EXPECT_TRUE(result) << (result ? "" : result.error().message());
    return result ? *std::move(result) : shell::CallResult{};
  }

  shell::SessionLimits limits_;
  std::string kernel_counters_;
  TempDir workspace_;
  TempDir state_;
  std::shared_ptr<FakeWarden> warden_;
  std::shared_ptr<shell::Session> session_;
};

}  // namespace bawn::test
