#include "limit_options.hpp"

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

TEST(LimitOptions, RefuseWhatIsNone) {
  EXPECT_THROW(parsed("--max-sessions 0"), CLI::ParseError);
  EXPECT_THROW(parsed("--max-calls many"), CLI::ParseError);
  EXPECT_FALSE(pool_limits({.idle = "soon"}));
}

}  // namespace
}  // namespace bawn::cli
