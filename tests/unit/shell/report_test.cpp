#include "report.hpp"

#include <gmock/gmock.h>

#include <string>

namespace bawn::shell {
namespace {

using ::testing::ElementsAre;

std::string report(const std::string& nonce, const std::string& status) {
  return nonce + " " + status + " ehimB 10 34 1 0 3//a dir\nwith lines" + std::string(1, '\0') +
         "[1]-  12 Running                 sleep 5 &\n[2]+  34 Stopped                 cat\n" +
         "\1" + nonce + std::string(1, '\0');
}

TEST(ReportParser, ReadsAllFields) {
  ReportParser parser;
  parser.append(report("abc", "3"));
  const auto found = parser.take("abc");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status, 3);
  EXPECT_THAT(found->pipe_statuses, ElementsAre(1, 0, 3));
  EXPECT_EQ(found->flags, "ehimB");
  EXPECT_TRUE(found->pipefail);
  EXPECT_FALSE(found->cwd_missing);
  EXPECT_EQ(found->cwd, "/a dir\nwith lines");
  EXPECT_EQ(found->last_background, 34);
  ASSERT_EQ(found->jobs.size(), 2U);
  EXPECT_EQ(found->jobs[0].pid, 12);
  EXPECT_FALSE(found->jobs[0].stopped);
  EXPECT_EQ(found->jobs[1].pid, 34);
  EXPECT_TRUE(found->jobs[1].stopped);
  EXPECT_FALSE(parser.take("abc")) << "once only";
}

TEST(ReportParser, ReadsAReportWithoutJobs) {
  ReportParser parser;
  parser.append(std::string("abc 1 himB 01  1//gone\1abc\0", 27));
  const auto found = parser.take("abc");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->cwd_missing);
  EXPECT_EQ(found->last_background, 0);
  EXPECT_THAT(found->pipe_statuses, ElementsAre(1));
  EXPECT_TRUE(found->jobs.empty());
}

TEST(ReportParser, WaitsForTheWholeReport) {
  ReportParser parser;
  const std::string text = report("abc", "0");
  for (const char c : text.substr(0, text.size() - 1)) {
    parser.append({&c, 1});
    EXPECT_FALSE(parser.take("abc"));
  }
  parser.append({text.data() + text.size() - 1, 1});
  EXPECT_TRUE(parser.take("abc"));
}

TEST(ReportParser, IgnoresOtherNoncesAndRubbish) {
  ReportParser parser;
  parser.append(report("old", "1"));
  parser.append("rubbish \1 \0");
  parser.append(std::string(200'000, 'x'));
  EXPECT_FALSE(parser.take("new"));
  parser.append(report("new", "7"));
  EXPECT_EQ(parser.take("new")->status, 7);
}

TEST(ReportParser, TakesTheWholeReportBehindAnInterruptedOne) {
  ReportParser parser;
  parser.append(report("abc", "1").substr(0, 20));
  parser.append(report("abc", "130"));
  EXPECT_EQ(parser.take("abc")->status, 130);
}

TEST(ReportParser, DropsAFrameWithoutItsFields) {
  ReportParser parser;
  parser.append(std::string("abc 1 himB/\1abc\0", 16));
  EXPECT_FALSE(parser.take("abc"));
  parser.append(report("abc", "2"));
  EXPECT_EQ(parser.take("abc")->status, 2);
}

}  // namespace
}  // namespace bawn::shell
