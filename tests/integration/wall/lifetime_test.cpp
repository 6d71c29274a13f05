#include "bawn/os/pidfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/procfs.hpp"
#include "bawn/os/spawn.hpp"
#include "plans.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace std::chrono_literals;
using bawn::contract::Context;
using bawn::os::Pidfd;

struct Shape {
  const char* name;
  const char* plan;
  bool forked;
};

// For the names that ctest lists.
void PrintTo(const Shape& one, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << one.name;
}

class WallLifetimeTest : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    if (GetParam().forked && !bawn::test::kCanForkWarden) {
      GTEST_SKIP() << "ThreadSanitizer";
    }
    if (GetParam().plan == std::string("namespaces")) {
      BAWN_REQUIRE("user-namespaces");
    }
    ::chmod(workspace_.path().c_str(), 0777);
    start_victim();
  }

  void TearDown() override {
    if (victim_.is_open()) {
      (void)victim_.signal(SIGKILL);
      (void)gone(victim_);
      (void)victim_.reap();
    }
  }

  void start_victim() {
    auto pipe = bawn::os::Pipe::make();
    ASSERT_TRUE(pipe);
    bawn::os::SpawnOptions options;
    options.program = WALL_VICTIM;
    options.argv = {"wall_victim", GetParam().plan, workspace_.path()};
    if (GetParam().forked) {
      options.argv.emplace_back("fork");
    }
    options.fds = {{pipe->write.get(), 1}, {2, 2}};
    auto victim = bawn::os::spawn(options);
    ASSERT_TRUE(victim) << victim.error().message();
    victim_ = std::move(*victim);
    pipe->write.reset();
    std::string text;
    char byte = 0;
    while (::read(pipe->read.get(), &byte, 1) == 1 && byte != '\n') {
      text += byte;
    }
    std::istringstream numbers(text);
    for (int pid = 0; numbers >> pid;) {
      auto held = Pidfd::open(pid);
      ASSERT_TRUE(held) << pid;
      held_.push_back(std::move(*held));
    }
    ASSERT_EQ(held_.size(), 5U) << text;
  }

  static bool gone(const Pidfd& process) {
    const auto soon = Context().with_deadline(Context::Clock::now() + 5s);
    return bawn::os::wait_readable(process.get(), soon).has_value();
  }

  void expect_all_gone() {
    for (const Pidfd& process : held_) {
      EXPECT_TRUE(gone(process)) << process.pid();
    }
  }

  bawn::test::TempDir workspace_;
  Pidfd victim_;
  std::vector<Pidfd> held_;  ///< the warden first, then what runs inside
};

INSTANTIATE_TEST_SUITE_P(Shapes, WallLifetimeTest,
                         testing::Values(Shape{"Namespaces", "namespaces", false},
                                         Shape{"ForkedWarden", "namespaces", true},
                                         Shape{"Bare", "bare", false}),
                         [](const auto& shape) { return shape.param.name; });

TEST_P(WallLifetimeTest, KilledServerLeavesNothing) {
  for (const Pidfd& process : held_) {
    ASSERT_FALSE(process.exited());  // control
  }
  ASSERT_TRUE(victim_.signal(SIGKILL));
  expect_all_gone();
}

TEST_P(WallLifetimeTest, KilledStubLeavesNothing) {
  const auto stub = bawn::os::parent_pid(held_.front().pid());
  ASSERT_TRUE(stub);
  if (GetParam().forked) {
    GTEST_SKIP() << "the server itself is the stub";
  }
  ASSERT_NE(*stub, victim_.pid());
  ASSERT_TRUE(Pidfd::open(*stub)->signal(SIGKILL));
  expect_all_gone();
}

TEST_P(WallLifetimeTest, KilledWardenLeavesNothing) {
  ASSERT_TRUE(held_.front().signal(SIGKILL));
  expect_all_gone();
}

}  // namespace
