#include "duration.hpp"

#include <gtest/gtest.h>

namespace bawn::cli {
namespace {

using std::chrono::milliseconds;

TEST(ParseDurationTest, ReadsEveryUnit) {
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(parse_duration("30s"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("5m"), milliseconds(300'000));
  EXPECT_EQ(parse_duration("2h"), milliseconds(7'200'000));
  EXPECT_EQ(parse_duration("7"), milliseconds(7'000));
}

TEST(ParseDurationTest, RefusesWhatIsNoDurationAndSaysWhatIs) {
  for (const char* text :
       {"", "s", "-1s", "0", "1.5s", "10 s", "1d", "9223372036854775807h", "0x5s"}) {
    const auto result = parse_duration(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code(), contract::ErrorCode::InvalidArgument);
    EXPECT_NE(result.error().message().find("write for example 500ms"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace bawn::cli
