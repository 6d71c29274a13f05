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

TEST(ReportFileTest, WhateverTookItsNameMeanwhileGoes) {
  const test::TempDir dir;
  const auto path = dir.path() / "report.json";
  const auto victim = dir.write("victim", "untouched");
  const auto file = ReportFile::open(path.string());
  ASSERT_TRUE(file) << file.error().message();
  const auto is_ours = [&] {
    const auto written = file->write(contract::Json({{"by", "bawn"}}));
    return written && std::filesystem::is_regular_file(std::filesystem::symlink_status(path)) &&
           test::read_file(path) == "{\"by\":\"bawn\"}\n";
  };
  EXPECT_TRUE(is_ours());
  dir.write("forged", "{\"by\":\"everything\"}\n");
  std::filesystem::rename(dir.path() / "forged", path);
  EXPECT_TRUE(is_ours());
  std::filesystem::remove(path);
  std::filesystem::create_symlink(victim, path);
  EXPECT_TRUE(is_ours());
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(is_ours());
  EXPECT_EQ(test::read_file(victim), "untouched");
}

TEST(ReportFileTest, ADirectoryThatTookItsNameOrItsDirectorysIsSaid) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path() / "out");
  const auto path = dir.path() / "out" / "report.json";
  const auto file = ReportFile::open(path.string());
  ASSERT_TRUE(file) << file.error().message();
  std::filesystem::create_directory(path);
  EXPECT_FALSE(file->write({}));
  std::filesystem::remove(path);
  EXPECT_TRUE(file->write({}));
  std::filesystem::rename(dir.path() / "out", dir.path() / "away");
  std::filesystem::create_directory(dir.path() / "out");
  const auto written = file->write({});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message().find("not ours"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path() / "out"));
}

TEST(ReportFileTest, IgnoresWritesWithoutAPath) {
  auto file = ReportFile::open("");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->write({}));
}

}  // namespace
}  // namespace bawn::cli
