#include "record_log.hpp"

#include "bawn/contract/json.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace bawn::cli {
namespace {

contract::Record process(int pid) {
  return {.name_space = "shell:process-group", .data = {{"pid", pid}}};
}

TEST(RecordLogTest, WritesEachRecordAsOneLineBeforeItReturns) {
  const test::TempDir dir;
  auto log = RecordLog::open(dir.path().string());
  ASSERT_TRUE(log) << log.error().message();
  ASSERT_TRUE((*log)->append(process(1)));
  ASSERT_TRUE((*log)->append(process(2)));
  const std::string text = test::read_file((*log)->path());
  ASSERT_EQ(std::ranges::count(text, '\n'), 2);
  const auto first = contract::parse_json(text.substr(0, text.find('\n')));
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ((*first)["namespace"], "shell:process-group");
  EXPECT_EQ((*first)["data"]["pid"], 1);
}

TEST(RecordLogTest, IsReadableByItsOwnerOnlyAndGoneAfterAnOrderlyEnd) {
  const test::TempDir dir;
  std::string path;
  {
    auto log = RecordLog::open(dir.path().string());
    ASSERT_TRUE(log) << log.error().message();
    path = (*log)->path();
    struct stat found{};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0600U);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(RecordLogTest, RefusesALinkInItsPlace) {
  const test::TempDir dir;
  std::string path;
  {
    auto log = RecordLog::open(dir.path().string());
    ASSERT_TRUE(log) << log.error().message();
    path = (*log)->path();
  }
  std::filesystem::create_symlink(dir.write("victim", "untouched"), path);
  EXPECT_FALSE(RecordLog::open(dir.path().string()));
  EXPECT_EQ(test::read_file(dir.path() / "victim"), "untouched");
}

TEST(RecordLogTest, KeepsTheFileBounded) {
  const test::TempDir dir;
  auto log = RecordLog::open(dir.path().string());
  ASSERT_TRUE(log) << log.error().message();
  const contract::Record large = {.name_space = "test:large",
                                  .data = {{"text", std::string(1U << 20U, 'x')}}};
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((*log)->append(large));
  }
  EXPECT_LE(std::filesystem::file_size((*log)->path()), RecordLog::kMaxBytes + (2U << 20U));
  EXPECT_TRUE(std::filesystem::exists((*log)->path() + ".1"));
}

TEST(JsonLinesTest, ALineCutByAFullDiskSpoilsNoLaterOne) {
  const test::TempDir dir;
  const std::string path = dir.path() / "lines";
  // The limit is the process's own and ctest gives each test one; the signal would end it.
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto lines = JsonLines::open(path, 1U << 20U);
  ASSERT_TRUE(lines) << lines.error().message();
  struct rlimit small = before;
  small.rlim_cur = 8;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_FALSE((*lines)->append({{"n", "a long line"}}));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE((*lines)->append({{"n", 2}}));
  const std::string text = test::read_file(path);
  EXPECT_TRUE(text.ends_with("\n{\"n\":2}\n")) << text;
}

}  // namespace
}  // namespace bawn::cli
