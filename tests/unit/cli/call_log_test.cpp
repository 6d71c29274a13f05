#include "call_log.hpp"

#include "bawn/os/procfs.hpp"
#include "line_editor.hpp"
#include "log_reader.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

namespace bawn::cli {
namespace {

using contract::Json;

/// Answers with a structure that also has what must not be logged.
class Answering final : public contract::Tool {
 public:
  explicit Answering(contract::Outcome outcome)
      : Tool({.name = "bash", .description = "", .parameters = {}}, {}),
        outcome_(std::move(outcome)) {}
  [[nodiscard]] contract::Outcome execute(const contract::Context& /*context*/,
                                          const contract::Call& /*call*/) const override {
    return outcome_;
  }

 private:
  contract::Outcome outcome_;
};

contract::Outcome finished() {
  contract::ToolResult result = contract::text_result("a secret was printed");
  result.structured =
      Json{{"call", "c1"},   {"session", "main"}, {"state", "finished"}, {"reason", "exited"},
           {"exit_code", 3}, {"out", "a secret"}, {"cwd", "/somewhere"}, {"duration_ms", 1.5}};
  result.confinement = contract::Confinement{.confined = true,
                                             .by = "landlock",
                                             .confirmed = true,
                                             .policy = "read-only",
                                             .policy_id = "sha256:00"};
  return result;
}

std::vector<Json> log_of(const contract::Outcome& outcome) {
  const test::TempDir dir;
  auto log = CallLog::open(dir.path().string());
  EXPECT_TRUE(log) << log.error().message();
  const auto tool = logged(std::make_shared<Answering>(outcome), *log);
  EXPECT_TRUE(tool);
  EXPECT_EQ(contract::output_text((*tool)->execute(contract::Context(), {}).result),
            contract::output_text(outcome.result));
  return LogReader(dir.path().string() + "/log").read_new();
}

TEST(CallLogTest, TellsHowACallEndedAndHowItWasConfined) {
  const auto lines = log_of(finished());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["tool"], "bash");
  EXPECT_EQ(lines[0]["call"], "c1");
  EXPECT_EQ(lines[0]["exit_code"], 3);
  EXPECT_EQ(lines[0]["by"], "landlock");
  EXPECT_EQ(lines[0]["policy_id"], "sha256:00");
  EXPECT_EQ(lines[0]["server_pid"], ::getpid());
}

TEST(CallLogTest, KeepsNothingOfTextOutputOrDirectory) {
  const auto lines = log_of(finished());
  ASSERT_EQ(lines.size(), 1U);
  const std::string line = contract::dump_json(lines[0]);
  EXPECT_EQ(line.find("secret"), std::string::npos) << line;
  EXPECT_EQ(line.find("/somewhere"), std::string::npos) << line;
}

TEST(CallLogTest, NamesTheKindOfAnErrorAndNotItsWords) {
  const auto lines = log_of(contract::Error(contract::ErrorCode::NotFound, "no such thing: x"));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].contains("error"));
  EXPECT_EQ(contract::dump_json(lines[0]).find("no such thing"), std::string::npos);
}

TEST(CallLogTest, FileIsItsOwnersAndStaysWhenTheServerEnds) {
  const test::TempDir dir;
  std::string path;
  {
    auto log = CallLog::open(dir.path().string());
    ASSERT_TRUE(log) << log.error().message();
    path = (*log)->path();
  }
  struct stat found{};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600U);
}

TEST(CallLogTest, KeepsTheFilesOfTheLastServersOnly) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path() / "log");
  for (int i = 0; i < 30; ++i) {
    // No process has such a start time.
    dir.write("log/1-99999999999" + std::to_string(i) + ".jsonl", "{}\n");
  }
  const auto log = CallLog::open(dir.path().string());
  ASSERT_TRUE(log) << log.error().message();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path() / "log")) {
    files += entry.is_regular_file() ? 1U : 0U;
  }
  EXPECT_EQ(files, CallLog::kKeptFiles + 1);
}

TEST(LogReaderTest, LeavesOutALineThatWasNotFinished) {
  const test::TempDir dir;
  dir.write("1-2.jsonl", "{\"tool\":\"a\"}\nnot json\n[1]\n{\"tool\":\"b\"");
  LogReader reader(dir.path().string());
  EXPECT_EQ(reader.read_new().size(), 1U);
  dir.write("1-2.jsonl", "{\"tool\":\"a\"}\nnot json\n[1]\n{\"tool\":\"b\"}\n");
  EXPECT_EQ(LogReader(dir.path().string()).read_new().size(), 2U);
}

TEST(LogReaderTest, ALaterAnswerReplacesRunning) {
  const auto merged = merge_calls({
      {{"server_pid", 7}, {"time_ms", 1}, {"tool", "bash"}, {"call", "c1"}, {"state", "running"}},
      {{"server_pid", 8}, {"time_ms", 2}, {"tool", "bash"}, {"call", "c1"}, {"state", "finished"}},
      {{"server_pid", 7},
       {"time_ms", 3},
       {"tool", "bash_output"},
       {"call", "c1"},
       {"state", "finished"},
       {"exit_code", 4}},
  });
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0]["tool"], "bash");
  EXPECT_EQ(merged[0]["state"], "finished");
  EXPECT_EQ(merged[0]["exit_code"], 4);
}

TEST(LogReaderTest, ACallThatRanWhenItsServerEndedIsLost) {
  const auto alive = os::start_time(::getpid());
  ASSERT_TRUE(alive);
  const auto running = [](int pid, std::uint64_t start) {
    return Json{{"server_pid", pid}, {"server_start_time", start}, {"state", "running"}};
  };
  std::vector<Json> lines = {running(::getpid(), *alive), running(::getpid(), *alive + 1),
                             running(::getpid(), *alive)};
  lines[2]["record"] = {{"boot_id", "another"}};
  lines.push_back({{"server_pid", 1}, {"server_start_time", 1}, {"state", "finished"}});
  mark_lost(lines);
  EXPECT_EQ(lines[0]["state"], "running");
  EXPECT_EQ(lines[1]["state"], "lost");
  EXPECT_EQ(lines[2]["state"], "lost");
  EXPECT_EQ(lines[3]["state"], "finished");
}

TEST(LineEditorTest, OnlyNamesThatMeanThemselvesAreCompleted) {
  EXPECT_TRUE(is_plain_word("src/main-2.cpp"));
  for (const char* name : {"a b", "$(x)", "a;b", "a\033[2J", "it's", "`x`", "a*"}) {
    EXPECT_FALSE(is_plain_word(name)) << name;
  }
}

}  // namespace
}  // namespace bawn::cli
