#include "limit_options.hpp"

#include "shell_choice.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

namespace bawn::cli {
namespace {

using ::testing::ElementsAre;

LimitOptions parsed(const std::string& words) {
  LimitOptions options;
  CLI::App app;
  add_limit_options(app, options);
  app.parse(words);
  return options;
}

TEST(LimitOptions, AreTheDefaultsWhereNothingIsSaid) {
  const auto limits = pool_limits(parsed(""));
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->sessions, shell::PoolLimits().sessions);
  EXPECT_EQ(limits->spool_bytes, shell::PoolLimits().spool_bytes);
  EXPECT_EQ(limits->idle.count(), 0);
  EXPECT_TRUE(words_of({}).empty());
}

TEST(LimitOptions, TakeCountsSizesAndDurations) {
  const auto options = parsed("--max-sessions 3 --max-calls 5 --max-spool 2M --session-idle 5m");
  const auto limits = pool_limits(options);
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->sessions, 3U);
  EXPECT_EQ(limits->spool_bytes, 2U * 1024 * 1024);
  EXPECT_EQ(limits->idle, std::chrono::minutes(5));
  EXPECT_EQ(options.calls, 5U);
  EXPECT_THAT(words_of(options), ElementsAre("--max-sessions", "3", "--max-calls", "5",
                                             "--max-spool", "2097152", "--session-idle", "5m"));
}

TEST(ShellChoice, IsAKindOrAPath) {
  shell::SessionConfig config;
  ASSERT_TRUE(choose_shell("sh", config));
  EXPECT_EQ(config.shell, shell::ShellKind::Sh);
  EXPECT_EQ(config.sh, "/bin/sh");
  ASSERT_TRUE(choose_shell("/opt/busybox/ash", config));
  EXPECT_EQ(config.shell, shell::ShellKind::Sh);
  EXPECT_EQ(config.sh, "/opt/busybox/ash");
  ASSERT_TRUE(choose_shell("/opt/bash-5.3", config));
  EXPECT_EQ(config.shell, shell::ShellKind::Bash);
  EXPECT_EQ(config.bash, "/opt/bash-5.3");
  ASSERT_TRUE(choose_shell("auto", config));
  EXPECT_EQ(config.shell, shell::ShellKind::Auto);
  EXPECT_FALSE(choose_shell("zsh", config));
  EXPECT_THAT(words_of({.shell = "sh"}), ElementsAre("--shell", "sh"));
}

TEST(LimitOptions, RefuseWhatIsNone) {
  EXPECT_THROW(parsed("--max-sessions 0"), CLI::ParseError);
  EXPECT_THROW(parsed("--max-calls many"), CLI::ParseError);
  EXPECT_FALSE(pool_limits({.idle = "soon"}));
}

}  // namespace
}  // namespace bawn::cli
