#include "file_server.hpp"

#include "relayed_tools.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

namespace bawn::test {

namespace {

constexpr uid_t kOwner = 4242;

void give(const std::filesystem::path& path) {
  if (geteuid() == 0) {
    EXPECT_EQ(lchown(path.c_str(), kOwner, kOwner), 0);
  }
}

}  // namespace

FileServer::FileServer(const WallMode& mode) {
  std::filesystem::permissions(root_.path(), static_cast<std::filesystem::perms>(0755));
  for (const char* name : {"workspace", "outside", "secret"}) {
    std::filesystem::create_directory(root_.path() / name);
    give(root_.path() / name);
  }
  std::filesystem::create_directory(root_.path() / "runtime");
  std::filesystem::permissions(root_.path() / "runtime", std::filesystem::perms::owner_all);
  for (const char* name : {"outside/file", "secret/key"}) {
    give(root_.write(name, "outside\n"));
  }
  const auto policy = root_.write(
      "policy.json", fmt::format("{{{},\"secrets\":[\"{}\"]}}", mode.policy, secret().string()));
  if (RelayedTools::wanted()) {
    relayed_ = std::make_unique<RelayedTools>(policy, in("").parent_path(), root_.path());
    return;
  }
  auto peer = McpPeer::connect({BAWN_PROGRAM, "mcp", "--workspace", in("").parent_path().string(),
                                "--policy", policy.string()},
                               {"BAWN_RUNTIME_DIR=" + (root_.path() / "runtime").string()});
  EXPECT_TRUE(peer) << peer.error().message();
  if (peer) {
    peer_.emplace(*std::move(peer));
  }
}

FileServer::~FileServer() = default;

ToolAnswer FileServer::call(const std::string& tool, const contract::Json& arguments) {
  return started() ? call_at_once({{tool, arguments}}).front() : ToolAnswer();
}

std::vector<ToolAnswer> FileServer::call_at_once(
    const std::vector<std::pair<std::string, contract::Json>>& calls) {
  if (relayed_ != nullptr) {
    std::vector<ToolAnswer> answers;
    for (const auto& [tool, arguments] : calls) {
      answers.push_back(relayed_->call(tool, arguments));
    }
    return answers;
  }
  std::string lines;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    lines += contract::dump_json(contract::Json{
                 {"jsonrpc", "2.0"},
                 {"id", fmt::format("at-once-{}", i)},
                 {"method", "tools/call"},
                 {"params", {{"name", calls[i].first}, {"arguments", calls[i].second}}}}) +
             "\n";
  }
  std::vector<ToolAnswer> answers(calls.size());
  EXPECT_TRUE(peer_->process().write(lines));
  for (std::size_t left = calls.size(); left > 0; --left) {
    const auto line = peer_->process().read_line();
    const auto parsed = line ? contract::parse_json(*line) : std::unexpected(line.error());
    EXPECT_TRUE(parsed) << parsed.error().message();
    if (!parsed) {
      break;
    }
    answers.at(std::stoul(parsed->value("id", "at-once-0").substr(8))) = answer_in(*parsed);
  }
  return answers;
}

ToolAnswer FileServer::answer_in(const contract::Json& message) {
  ToolAnswer answer;
  const contract::Json result = message.value("result", contract::Json::object());
  answer.failed = result.value("isError", false);
  for (const contract::Json& part : result.value("content", contract::Json::array())) {
    answer.text += part.value("text", "");
  }
  answer.structured = result.value("structuredContent", contract::Json::object());
  EXPECT_TRUE(result.contains("_meta") && result["_meta"].contains("bawn/confinement"))
      << message.dump();
  return answer;
}

std::filesystem::path FileServer::in(const std::string& name) const {
  return root_.path() / "workspace" / name;
}

std::filesystem::path FileServer::out(const std::string& name) const {
  return root_.path() / "outside" / name;
}

void FileServer::put(const std::string& name, const std::string& bytes, unsigned mode) const {
  std::filesystem::path made = in("");
  for (const auto& part : std::filesystem::path(name).parent_path()) {
    made /= part;
    if (std::filesystem::create_directory(made)) {
      give(made);
    }
  }
  const auto path = root_.write("workspace/" + name, bytes);
  give(path);
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
}

}  // namespace bawn::test
