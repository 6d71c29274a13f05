#include "mcp_server.hpp"

#include "support/tested_bash.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace bawn::test {
namespace {

using contract::Json;

constexpr const char* kBawn = BAWN_PROGRAM;

/// `pid` and all that descends from it.
std::vector<pid_t> family_of(pid_t pid) {
  std::vector<pid_t> family = {pid};
  for (std::size_t i = 0; i < family.size(); ++i) {
    std::error_code gone;
    for (const auto& task :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", family[i]), gone)) {
      std::ifstream children(task.path() / "children");
      for (pid_t child = 0; children >> child;) {
        family.push_back(child);
      }
    }
  }
  return family;
}

}  // namespace

std::string text_of(const Json& answer) {
  std::string text;
  if (answer.contains("result")) {
    for (const Json& part : answer["result"].value("content", Json::array())) {
      text += part.value("text", "");
    }
  }
  return text;
}

bool is_one_sentence(const std::string& text) {
  constexpr std::size_t kReadable = 400;
  return text.size() > 10 && text.size() <= kReadable && text.find('\n') == std::string::npos;
}

void McpServerTest::SetUp() {
  std::filesystem::create_directory(workspace());
  std::filesystem::create_directory(root_.path() / "runtime");
  std::filesystem::permissions(root_.path() / "runtime", std::filesystem::perms::owner_all);
  std::vector<std::string> argv = {kBawn, "mcp", "--workspace", workspace().string()};
  if (const auto bash = tested_bash_in(workspace())) {
    argv.insert(argv.end(), {"--shell", *bash});
  }
  auto server = McpPeer::connect(argv, {"BAWN_RUNTIME_DIR=" + (root_.path() / "runtime").string()});
  ASSERT_TRUE(server) << server.error().message();
  server_.emplace(*std::move(server));
}

void McpServerTest::TearDown() {
  if (!server_) {
    return;
  }
  expect_still_serving();
  const std::vector<pid_t> family = family_of(server_->pid());
  EXPECT_GT(family.size(), 1U) << "a server with a shell is more than one process";
  server_.reset();
  for (const pid_t pid : family) {
    EXPECT_FALSE(std::filesystem::exists(fmt::format("/proc/{}", pid))) << "left behind: " << pid;
  }
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root_.path() / "runtime")) {
    const auto name = entry.path().filename();
    EXPECT_TRUE(name == "sessions" || name == "records" || name == "log" ||
                entry.path().parent_path().filename() == "log")
        << "left behind: " << entry.path();
  }
}

void McpServerTest::send(std::string_view line) {
  const auto sent = server_->process().write(fmt::format("{}\n", line));
  ASSERT_TRUE(sent) << sent.error().message();
}

Json McpServerTest::next_answer() {
  for (;;) {
    const auto line = server_->process().read_line();
    if (!line) {
      ADD_FAILURE() << line.error().message();
      return {};
    }
    auto json = contract::parse_json(*line);
    if (!json) {
      ADD_FAILURE() << json.error().message() << ": " << *line;
      return {};
    }
    if (!json->contains("method")) {
      return *std::move(json);
    }
  }
}

Json McpServerTest::ask(std::string_view line) {
  send(line);
  return next_answer();
}

Json McpServerTest::call(std::string_view tool, std::string_view arguments) {
  return ask(fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}","arguments":{}}}}})",
      ++last_id_, tool, arguments));
}

void McpServerTest::expect_still_serving() {
  const Json answer = call("bash", R"({"command":"echo alive"})");
  EXPECT_NE(text_of(answer).find("alive"), std::string::npos) << answer;
}

}  // namespace bawn::test
