// How many sessions there may be, and when one makes room.
#include "bawn/shell/session_pool.hpp"

#include "fake_warden.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <memory>

namespace bawn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OpenPool final : public shell::SessionPool {
 public:
  using SessionPool::SessionPool;
  std::vector<std::shared_ptr<FakeWarden>> wardens;

 protected:
  [[nodiscard]] contract::Result<std::shared_ptr<shell::Session>> start(
      shell::SessionConfig config) override {
    const std::string directory =
        BAWN_TRY(shell::Session::prepare_directory(config.state_dir, geteuid(), getegid()));
    wardens.push_back(FakeWarden::make());
    return shell::Session::start_inside(std::move(config), directory, wardens.back(),
                                        {"PATH=/usr/bin:/bin"});
  }
};

class SessionPoolTest : public ::testing::Test {
 protected:
  std::unique_ptr<OpenPool> pool(const shell::PoolLimits& limits) {
    shell::SessionConfig config;
    config.workspace = workspace_.path();
    config.state_dir = state_.path();
    return std::make_unique<OpenPool>(config, limits);
  }
  TempDir workspace_;
  TempDir state_;
};

TEST_F(SessionPoolTest, RefusesOneTooManyAndSaysWhatToDo) {
  const auto sessions = pool({.sessions = 1});
  ASSERT_TRUE(sessions->get("a"));
  const auto second = sessions->get("b");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), contract::ErrorCode::ResourceExhausted);
  EXPECT_THAT(second.error().message(), HasSubstr("1 sessions are open"));
  sessions->close("a");
  EXPECT_TRUE(sessions->get("b"));
}

TEST_F(SessionPoolTest, ADeadSessionTakesNobodysPlace) {
  const auto sessions = pool({.sessions = 1});
  ASSERT_TRUE(sessions->get("a"));
  sessions->wardens.front()->close();
  EXPECT_TRUE(sessions->get("b"));
  EXPECT_THAT(sessions->names(), ElementsAre("b"));
}

TEST_F(SessionPoolTest, AnIdleSessionMakesRoomOnceItsTimeIsOver) {
  const auto sessions = pool({.sessions = 1, .idle = shell::Milliseconds(1)});
  const auto first = sessions->get("a");
  ASSERT_TRUE(first);
  shell::ExecRequest request;
  request.argv = {"cat"};
  request.input_open = true;
  request.yield = shell::Milliseconds(0);
  const auto running = (*first)->exec(contract::Context(), request);
  ASSERT_TRUE(running);
  // While a call runs nothing is idle.
  EXPECT_FALSE((*first)->idle_for());
  EXPECT_FALSE(sessions->get("b"));
  EXPECT_TRUE((*first)->write_input({.call = running->call, .end = true}));
  shell::OutputRequest end;
  end.call = running->call;
  ASSERT_TRUE((*first)->output(contract::Context(), end));
  while (*(*first)->idle_for() < shell::Milliseconds(1)) {
  }
  EXPECT_TRUE(sessions->get("b"));
}

TEST_F(SessionPoolTest, SessionsShareTheirSpool) {
  const auto sessions = pool({.spool_bytes = 12345});
  ASSERT_NE(sessions->config().spool, nullptr);
  EXPECT_EQ(sessions->config().spool->left(), 12345U);
}

}  // namespace
}  // namespace bawn::test
