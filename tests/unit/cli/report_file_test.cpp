#include "report_file.hpp"

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/json.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>

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
  ASSERT_TRUE(file->write(contract::Json({{"much", std::string(500, 'x')}})));
  ASSERT_TRUE(file->write(contract::to_json(report)));
  const auto json = contract::parse_json(test::read_file(path));
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ((*json)["by"], "landlock+seccomp");
}

TEST(ReportFileTest, RefusesAPathThatCannotBeWritten) {
  const auto file = ReportFile::open("/nowhere/report.json");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message().find("/nowhere/report.json"), std::string::npos);
}

TEST(ReportFileTest, FollowsNoLinkAndWaitsForNoFifo) {
  const test::TempDir dir;
  const auto victim = dir.write("victim", "untouched");
  const auto link = dir.path() / "link";
  const auto fifo = dir.path() / "fifo";
  std::filesystem::create_symlink(victim, link);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(ReportFile::open(link.string()));
  EXPECT_FALSE(ReportFile::open(fifo.string()));
  EXPECT_EQ(test::read_file(victim), "untouched");
}

TEST(ReportFileTest, IgnoresWritesWithoutAPath) {
  auto file = ReportFile::open("");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->write({}));
}

}  // namespace
}  // namespace bawn::cli
