/// \file
/// A session behind a relay on this machine, with the least plan, and short ways to run things in
/// it.
#pragma once

#include "bawn/os/poll.hpp"
#include "relay_process.hpp"

#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

namespace bawn::test {

/// What became of one process.
struct Ran {
  std::string out;
  std::string err;
  sandbox::ExitStatus status;
};

/// A child that has not been let go.
struct Started {
  std::unique_ptr<sandbox::Child> child;
  os::UniqueFd in;
  os::UniqueFd out;
  os::UniqueFd err;
};

inline std::string read_to_end(const os::UniqueFd& fd) {
  std::string bytes;
  std::array<char, 65536> part;
  ssize_t count = 0;
  while ((count = ::read(fd.get(), part.data(), part.size())) > 0) {
    bytes.append(part.data(), static_cast<std::size_t>(count));
  }
  return bytes;
}

inline std::string read_line(const os::UniqueFd& fd) {
  std::string line;
  char byte = 0;
  while (::read(fd.get(), &byte, 1) == 1 && byte != '\n') {
    line += byte;
  }
  return line;
}

class RelaySession : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(process_.relay(), nullptr);
    warden_ = open();
    ASSERT_NE(warden_, nullptr);
  }
  void TearDown() override { warden_.reset(); }

  std::shared_ptr<sandbox::Warden> open() {
    auto warden = relay().start(plan_without_walls());
    EXPECT_TRUE(warden) << (warden ? "" : warden.error().message());
    return warden ? *warden : nullptr;
  }

  /// As the caller's own user, with nothing but a scope around each child.
  sandbox::SessionPlan plan_without_walls() {
    constexpr int kAbiWithScopes = 6;
    sandbox::SessionPlan plan;
    plan.hygiene.apply = true;
    plan.child_scope_layer = relay().place().landlock_abi >= kAbiWithScopes;
    plan.uid = geteuid();
    plan.gid = getegid();
    plan.user = std::to_string(geteuid());
    plan.workspace = "/";
    plan.home = "/";
    plan.tmp = "/tmp";
    return plan;
  }

  Started start(std::vector<std::string> argv) { return start_in(*warden_, std::move(argv)); }
  static Started start_in(sandbox::Warden& warden, std::vector<std::string> argv) {
    Started started;
    auto in = *os::Pipe::make();
    auto out = *os::Pipe::make();
    auto err = *os::Pipe::make();
    sandbox::SpawnSpec spec;
    spec.argv = std::move(argv);
    spec.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    spec.cwd = "/";
    spec.standard_input = std::move(in.read);
    spec.standard_output = std::move(out.write);
    spec.standard_error = std::move(err.write);
    auto child = warden.spawn(std::move(spec));
    EXPECT_TRUE(child) << (child ? "" : child.error().message());
    if (child) {
      started.child = *std::move(child);
    }
    started.in = std::move(in.write);
    started.out = std::move(out.read);
    started.err = std::move(err.read);
    return started;
  }

  Ran run(std::vector<std::string> argv, const std::string& input = {}) {
    Started started = start(std::move(argv));
    Ran ran;
    if (started.child == nullptr || !started.child->go()) {
      return ran;
    }
    std::thread writer([&] {
      std::size_t done = 0;
      while (done < input.size()) {
        const ssize_t count = ::write(started.in.get(), input.data() + done, input.size() - done);
        if (count < 0) {
          break;
        }
        done += static_cast<std::size_t>(count);
      }
      started.in.reset();
    });
    std::thread errors([&] { ran.err = read_to_end(started.err); });
    ran.out = read_to_end(started.out);
    errors.join();
    writer.join();
    const auto status = started.child->wait(contract::Context());
    EXPECT_TRUE(status) << (status ? "" : status.error().message());
    ran.status = status.value_or(sandbox::ExitStatus{});
    return ran;
  }

  [[nodiscard]] sandbox::Relay& relay() const { return *process_.relay(); }

  RelayProcess process_{BAWN_WARDEN};
  std::shared_ptr<sandbox::Warden> warden_;
};

}  // namespace bawn::test
