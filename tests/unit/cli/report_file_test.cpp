#include "report_file.hpp"

#include "bawn/contract/json.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

namespace bawn::cli {
namespace {

TEST(ReportFileTest, HoldsTheReportAsOneLineOfJson) {
  const test::TempDir dir;
  const auto path = dir.write("report.json", "something older and longer than nothing");
  auto file = ReportFile::open(path.string());
  ASSERT_TRUE(file) << file.error().message();
  contract::Confinement report;
  report.confined = true;
  report.by = "landlock+seccomp";
  ASSERT_TRUE(file->write(report));
  const auto json = contract::parse_json(test::read_file(path));
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ((*json)["by"], "landlock+seccomp");
}

TEST(ReportFileTest, RefusesAPathThatCannotBeWritten) {
  const auto file = ReportFile::open("/nowhere/report.json");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message().find("/nowhere/report.json"), std::string::npos);
}

TEST(ReportFileTest, IgnoresWritesWithoutAPath) {
  auto file = ReportFile::open("");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->write({}));
}

}  // namespace
}  // namespace bawn::cli
