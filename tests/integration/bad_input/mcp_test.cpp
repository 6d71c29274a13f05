/// \file
/// Hostile and broken input to `bawn mcp`: one clear sentence, and the server goes on. The fixture
/// checks after each test that the server still serves and leaves nothing behind.

#include "mcp_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>

namespace bawn::test {
namespace {

using contract::Json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;

int code_of(const Json& answer) {
  return answer.value("/error/code"_json_pointer, 0);
}
std::string message_of(const Json& answer) {
  return answer.value("/error/message"_json_pointer, std::string());
}

class McpBadInput : public McpServerTest {
 protected:
  /// A tool's own refusal: isError, one sentence, beginning as the contract says.
  void expect_refused(std::string_view tool, std::string_view arguments, const std::string& names) {
    SCOPED_TRACE(std::string(tool) + " " + std::string(arguments));
    const Json answer = call(tool, arguments);
    EXPECT_EQ(answer.value("/result/isError"_json_pointer, false), true) << answer;
    const std::string text = text_of(answer);
    EXPECT_THAT(text, StartsWith("invalid arguments: "));
    EXPECT_THAT(text, HasSubstr(names));
    EXPECT_TRUE(is_one_sentence(text)) << text;
  }

  void expect_error(std::string_view line, int code) {
    SCOPED_TRACE(std::string(line.substr(0, 200)));
    const Json answer = ask(line);
    EXPECT_EQ(code_of(answer), code) << answer.dump().substr(0, 500);
    EXPECT_TRUE(is_one_sentence(message_of(answer))) << message_of(answer);
  }
};

TEST_F(McpBadInput, ArgumentsOfTheWrongTypeAreNamed) {
  expect_refused("bash", R"({"command":42})", "command");
  expect_refused("bash", R"({})", "command");
  expect_refused("bash", R"({"command":"true","timeout_ms":"soon"})", "timeout_ms");
  expect_refused("bash", R"({"command":"true","timeout_ms":-1})", "timeout_ms");
  expect_refused("exec", R"({"argv":"ls"})", "argv");
  expect_refused("exec", R"({"argv":["ls",7]})", "argv");
  expect_refused("exec", R"({"argv":[]})", "argv");
}

TEST_F(McpBadInput, ArgumentsThatAreNoObjectAreInvalidParameters) {
  expect_error(
      R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"bash","arguments":[]}})",
      kInvalidParams);
}

TEST_F(McpBadInput, ANulInACommandIsRefusedBeforeAnythingRuns) {
  expect_refused("bash", R"({"command":"touch made\u0000; touch made-too"})", "NUL");
  expect_refused("exec", R"({"argv":["touch","made\u0000"]})", "NUL");
  EXPECT_TRUE(std::filesystem::is_empty(workspace()));
}

TEST_F(McpBadInput, AnUnknownToolOrMethodIsNamed) {
  expect_error(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nope"}})",
               kInvalidParams);
  expect_error(R"({"jsonrpc":"2.0","id":6,"method":"nope"})", kMethodNotFound);
}

TEST_F(McpBadInput, ALineOverTheLimitIsDroppedAndAnswered) {
  const std::string line = R"({"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":")" +
                           std::string(std::size_t{11} << 20, 'x') + R"("}})";
  expect_error(line, kInvalidRequest);
}

TEST_F(McpBadInput, InvalidUtf8IsNoMessage) {
  expect_error("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}",
               kParseError);
}

TEST_F(McpBadInput, TextThatIsNoJsonIsNoMessage) {
  expect_error("nonsense", kParseError);
  expect_error(R"({"jsonrpc":"2.0","id":5,"id":6,"method":"ping"})", kParseError);
}

TEST_F(McpBadInput, ASecondRequestWithALiveIdIsRefusedAndTheFirstIsAnswered) {
  const std::string fifo = workspace() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0666), 0);
  send(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":)"
       R"({"name":"bash","arguments":{"command":"cat fifo"}}})");
  expect_error(R"({"jsonrpc":"2.0","id":5,"method":"ping"})", kInvalidRequest);
  std::ofstream(fifo) << "the first goes on\n";  // blocks until cat has opened its end
  const Json answer = next_answer();
  EXPECT_EQ(answer.value("id", 0), 5);
  EXPECT_THAT(text_of(answer), HasSubstr("the first goes on"));
}

TEST_F(McpBadInput, OutputThatIsNoUtf8IsAnsweredInUtf8) {
  const Json answer = call("bash", R"({"command":"printf 'a\\377b\\0c'"})");
  EXPECT_THAT(text_of(answer), HasSubstr("a")) << answer;
}

}  // namespace
}  // namespace bawn::test
