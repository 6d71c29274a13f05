/// \file
/// Places through `bawn mcp`: what a client sees of them, and what is left when the server is
/// killed.
#include "open_place.hpp"
#include "support/peer_process.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <signal.h>
#include <sys/stat.h>

#include <fstream>

namespace bawn::test {
namespace {

using contract::Json;
using ::testing::HasSubstr;

class PlaceServerTest : public OpenPlace {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(OpenPlace::SetUp());
    if (IsSkipped()) {
      return;
    }
    ASSERT_EQ(::chmod(workspace_.path().c_str(), 0755), 0);
    connect();
  }
  void connect(std::vector<std::string> more = {}) {
    std::vector<std::string> environment = engine_environment().variables;
    environment.push_back("BAWN_RUNTIME_DIR=" + state_.path().string());
    std::vector<std::string> words = {BAWN_PROGRAM, "mcp", "--workspace", workspace_.path()};
    words.insert(words.end(), more.begin(), more.end());
    auto server = McpPeer::connect(words, environment);
    ASSERT_TRUE(server) << server.error().message();
    server_.emplace(*std::move(server));
  }
  Json call(const char* tool, const Json& arguments) {
    const Json request = {{"jsonrpc", "2.0"},
                          {"id", ++last_id_},
                          {"method", "tools/call"},
                          {"params", {{"name", tool}, {"arguments", arguments}}}};
    EXPECT_TRUE(server_->process().write(contract::dump_json(request) + "\n"));
    for (;;) {
      const auto line = server_->process().read_line();
      if (!line) {
        ADD_FAILURE() << line.error().message();
        return Json::object();
      }
      const auto answer = contract::parse_json(*line);
      if (answer && answer->value("id", 0) == last_id_) {
        return answer->value("result", Json::object());
      }
    }
  }
  static std::string text_of(const Json& result) {
    return result.value("/content/0/text"_json_pointer, "");
  }
  Json open_arguments(const std::string& name) const {
    return {{"image", kImage},
            {"name", name},
            {"mounts", {{{"source", "."}, {"target", "/workspace"}}}}};
  }
  /// The text of a call that must be refused.
  std::string refusal(const char* tool, const Json& arguments) {
    const Json result = call(tool, arguments);
    EXPECT_EQ(result.value("isError", false), true) << result;
    const std::string text = text_of(result);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }

  void file_tools_act_in(const std::string& place);

  std::optional<McpPeer> server_;
  int last_id_ = 1000;
};

TEST_F(PlaceServerTest, ToolsActInThePlaceThatACallNames) {
  const std::string name = fresh_name();
  const Json opened = call("container_open", open_arguments(name));
  ASSERT_EQ(opened.value("isError", false), false) << opened;
  EXPECT_EQ(opened["structuredContent"]["place"], name);
  EXPECT_EQ(opened["structuredContent"]["in_force"]["read_only_root"], true);

  const Json inside = call("bash", {{"command", "echo $IMAGE_SAYS; pwd"}, {"place", name}});
  EXPECT_EQ(inside["structuredContent"]["stdout"], "hello\n/workspace\n");
  EXPECT_THAT(inside["_meta"]["bawn/confinement"]["by"].get<std::string>(),
              HasSubstr("container:" + name));
  const Json outside = call("bash", {{"command", "echo ${IMAGE_SAYS-nothing}"}});
  EXPECT_EQ(outside["structuredContent"]["stdout"], "nothing\n");

  const Json written =
      call("write_file", {{"path", "note.txt"}, {"content", "from inside\n"}, {"place", name}});
  EXPECT_EQ(written.value("isError", false), false) << written;
  EXPECT_EQ(read_file(workspace_.path() / "note.txt"), "from inside\n");
  const Json read = call("read_file", {{"path", "/workspace/note.txt"}, {"place", name}});
  EXPECT_THAT(text_of(read), HasSubstr("from inside"));
  const Json run = call("exec", {{"argv", {"cat", "note.txt"}}, {"place", name}});
  EXPECT_EQ(run["structuredContent"]["stdout"], "from inside\n");

  const Json closed = call("container_close", {{"place", name}});
  EXPECT_EQ(closed.value("isError", false), false) << closed;
  EXPECT_FALSE(exists(name));
  EXPECT_THAT(refusal("bash", {{"command", "true"}, {"place", name}}), HasSubstr("not open"));
}

TEST_F(PlaceServerTest, BadInputGetsOneSentence) {
  const std::string name = fresh_name();
  Json missing = open_arguments(name);
  missing["image"] = "localhost/no-such-image:7";
  EXPECT_THAT(refusal("container_open", missing), HasSubstr("pull"));
  Json outside = open_arguments(name);
  outside["mounts"][0]["source"] = "/etc";
  EXPECT_THAT(refusal("container_open", outside), HasSubstr("workspace"));
  Json network = open_arguments(name);
  network["network"] = "bridge";
  EXPECT_THAT(refusal("container_open", network), HasSubstr("open-net"));
  Json named = open_arguments("-x");
  EXPECT_THAT(refusal("container_open", named), HasSubstr("invalid arguments"));
  EXPECT_THAT(refusal("container_close", {{"place", "nowhere"}}), HasSubstr("no open place"));
  EXPECT_FALSE(exists(name));
}

TEST_F(PlaceServerTest, ATakenNameIsNotOursToRemove) {
  const std::string name = fresh_name();
  const Json opened = call("container_open", open_arguments(name));
  ASSERT_EQ(opened.value("isError", false), false) << opened;
  EXPECT_THAT(refusal("container_open", open_arguments(name)), HasSubstr("open already"));
  // Another server's attempt meets the engine's own refusal.
  auto other = spec();
  other.name = name;
  const auto taken = container::Place::open(contract::Context(), other, setup_);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), contract::ErrorCode::AlreadyExists);
  EXPECT_TRUE(exists(name));
  const Json inside = call("bash", {{"command", "echo still"}, {"place", name}});
  EXPECT_EQ(inside["structuredContent"]["stdout"], "still\n");
}

TEST_F(PlaceServerTest, AContainerThatIsRemovedFromOutsideIsSaid) {
  const std::string name = fresh_name();
  ASSERT_EQ(call("container_open", open_arguments(name)).value("isError", false), false);
  call("bash", {{"command", "true"}, {"place", name}});
  ASSERT_TRUE(setup_.engine->remove(contract::Context(), name));
  EXPECT_THAT(refusal("bash", {{"command", "true"}, {"place", name}}), HasSubstr("gone"));
  const Json again = call("container_open", open_arguments(name));
  EXPECT_EQ(again.value("isError", false), false) << again;
}

/// Every file tool, beside what commands see.
void PlaceServerTest::file_tools_act_in(const std::string& place) {
  const auto works = [&](const char* tool, Json arguments) {
    arguments["place"] = place;
    const Json result = call(tool, arguments);
    EXPECT_EQ(result.value("isError", false), false) << tool << ": " << result;
    return result;
  };
  const auto shell = [&](const char* command) {
    return works("bash", {{"command", command}})["structuredContent"].value("stdout", "");
  };
  works("write_file", {{"path", "/tmp/ws/note.txt"}, {"content", "one\n"}, {"make_parents", true}});
  EXPECT_EQ(shell("cat /tmp/ws/note.txt; echo two >> /tmp/ws/note.txt"), "one\n");
  EXPECT_THAT(text_of(works("read_file", {{"path", "/tmp/ws/note.txt"}})), HasSubstr("two"));
  works("edit_file", {{"path", "/tmp/ws/note.txt"}, {"old_string", "two"}, {"new_string", "2"}});
  const Json patched =
      works("apply_patch",
            {{"patch",
              "*** Begin Patch\n*** Update File: /tmp/ws/note.txt\n*** Move to: /tmp/ws/moved.txt\n"
              " one\n-2\n+three\n*** Add File: /tmp/ws/more.txt\n+needle\n*** End Patch\n"}});
  EXPECT_EQ(shell("cd /tmp/ws; ls -A; cat moved.txt"), "more.txt\nmoved.txt\none\nthree\n");
  EXPECT_THAT(text_of(works("list_files", {{"path", "/tmp/ws"}})), HasSubstr("moved.txt"));
  EXPECT_THAT(text_of(works("search_files", {{"path", "/tmp/ws"}, {"pattern", "needle"}})),
              HasSubstr("more.txt"));
  works("undo_change", {{"call", patched["structuredContent"].value("call", "")}});
  EXPECT_EQ(shell("cd /tmp/ws; ls -A; cat note.txt"), "note.txt\none\n2\n");
}

TEST_F(PlaceServerTest, AContainerThatIsJoinedIsUsedAndLeft) {
  const std::string theirs = fresh_name();
  const auto started = engine_says(
      {"run", "--detach", "--name", theirs, "--network", "none", kImage, "sleep", "600"});
  ASSERT_EQ(started.exit_code, 0) << started.err;
  EXPECT_THAT(refusal("container_open", {{"attach", theirs}}), HasSubstr("--join-container"));
  server_.reset();
  connect({"--join-container", theirs});
  const Json opened = call("container_open", {{"attach", theirs}});
  ASSERT_EQ(opened.value("isError", false), false) << opened;
  const Json inside = call("bash", {{"command", "cat /proc/1/comm"}, {"place", theirs}});
  EXPECT_EQ(inside["structuredContent"]["stdout"], "sleep\n");
  file_tools_act_in(theirs);
  const Json closed = call("container_close", {{"place", theirs}});
  EXPECT_EQ(closed["structuredContent"]["removed"], false);
  EXPECT_TRUE(exists(theirs));
  EXPECT_TRUE(setup_.engine->remove(contract::Context(), theirs));
  EXPECT_THAT(refusal("container_open", Json::object()), HasSubstr("attach"));
}

TEST_F(PlaceServerTest, AKilledServerLeavesNoContainerAndNoProcess) {
  const std::string name = fresh_name();
  ASSERT_EQ(call("container_open", open_arguments(name)).value("isError", false), false);
  const Json started = call("bash", {{"command", "setsid sleep 600 & echo $!"}, {"place", name}});
  EXPECT_EQ(started.value("isError", false), false) << started;
  ASSERT_EQ(::kill(server_->pid(), SIGKILL), 0);
  server_.reset();
  connect();  // removes what the record names, if the engine has not by now
  EXPECT_FALSE(exists(name));
  EXPECT_TRUE(!std::filesystem::exists(state_.path() / "places") ||
              std::filesystem::is_empty(state_.path() / "places"));
}

}  // namespace
}  // namespace bawn::test
