/// \file
/// A relay on this machine: `bawn-warden --pipes` over a pair of pipes, as an engine would start
/// it.
#pragma once

#include "bawn/os/pipe.hpp"
#include "bawn/os/spawn.hpp"
#include "bawn/sandbox/relay.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <memory>
#include <string>
#include <utility>

namespace bawn::test {

/// Ends it, and what is behind it, in the end.
class RelayProcess {
 public:
  explicit RelayProcess(const std::string& program) {
    auto in = os::Pipe::make();
    auto out = os::Pipe::make();
    if (!in || !out) {
      ADD_FAILURE() << "no pipes";
      return;
    }
    os::SpawnOptions options;
    options.program = program;
    options.argv = {"bawn-warden", "--pipes"};
    options.fds = {{in->read.get(), 0}, {out->write.get(), 1}};
    auto started = os::spawn(options);
    if (!started) {
      ADD_FAILURE() << started.error().message();
      return;
    }
    process_ = *std::move(started);
    in->read.reset();
    out->write.reset();
    auto relay = sandbox::Relay::connect(std::move(in->write), std::move(out->read));
    if (!relay) {
      ADD_FAILURE() << relay.error().message();
      return;
    }
    relay_ = *std::move(relay);
  }
  ~RelayProcess() { end(); }
  RelayProcess(const RelayProcess&) = delete;
  RelayProcess& operator=(const RelayProcess&) = delete;

  [[nodiscard]] const std::shared_ptr<sandbox::Relay>& relay() const noexcept { return relay_; }
  [[nodiscard]] int pid() const noexcept { return process_.pid(); }
  void signal(int number) const { EXPECT_TRUE(process_.signal(number)); }
  /// Gives the pipes up and waits until the relay is gone.
  void end() {
    if (relay_ != nullptr) {
      relay_->close();
      relay_.reset();
    }
    if (process_.is_open()) {
      process_.wait();
      process_ = os::Pidfd();
    }
  }

 private:
  os::Pidfd process_;
  std::shared_ptr<sandbox::Relay> relay_;
};

}  // namespace bawn::test
