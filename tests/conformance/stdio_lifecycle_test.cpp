#include "bawn/mcp/stdio.hpp"
#include "server_process.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>

namespace bawn::test {
namespace {

using contract::Json;
using ::testing::HasSubstr;

std::string call_line(int id, std::string_view tool, std::string_view arguments = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":")" + std::string(tool) + R"(","arguments":)" +
         std::string(arguments) + "}}";
}
std::string ping_line(int id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"ping"})";
}
bool ended_well(std::optional<int> status) {
  return status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
}

class StdioLifecycle : public ::testing::Test {
 protected:
  ServerProcess server_{{BAWN_FIXTURE_SERVER}};
};

TEST_F(StdioLifecycle, EndsAtTheEndOfInput) {
  EXPECT_EQ(server_.call(ping_line(1))["result"], Json::object());
  server_.close_input();
  EXPECT_TRUE(ended_well(server_.wait()));
}

TEST_F(StdioLifecycle, ACallThatHeedsCancellationIsAnsweredBeforeTheEnd) {
  server_.send(call_line(1, "hang"));
  server_.call(ping_line(2));
  server_.close_input();
  EXPECT_TRUE(ended_well(server_.wait()));
  EXPECT_EQ(server_.receive()["result"]["content"][0]["text"], "interrupted");
}

TEST_F(StdioLifecycle, ACallThatIsDeafDoesNotHoldTheEndUp) {
  server_.send(call_line(1, "hang", R"({"deaf":true})"));
  server_.call(ping_line(2));
  server_.close_input();
  EXPECT_TRUE(ended_well(server_.wait()));
}

TEST_F(StdioLifecycle, LosesNoAnswerAtTheEndOfInput) {
  std::string all;
  constexpr int kCalls = 50;
  for (int id = 0; id < kCalls; ++id) {
    all += call_line(id, "echo") + "\n";
  }
  server_.write(all);
  server_.close_input();
  int answers = 0;
  while (server_.receive_line()) {
    ++answers;
  }
  EXPECT_EQ(answers, kCalls);
}

TEST_F(StdioLifecycle, ABrokenOffMessageDoesNotHoldTheEndUp) {
  server_.write(R"({"jsonrpc":"2.0","id":5,"meth)");
  server_.close_input();
  EXPECT_EQ(server_.receive()["error"]["code"], -32700);
  EXPECT_TRUE(ended_well(server_.wait()));
}

TEST_F(StdioLifecycle, EndsWellBySignal) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    ServerProcess server({BAWN_FIXTURE_SERVER});
    server.call(ping_line(1));
    server.signal(number);
    EXPECT_TRUE(ended_well(server.wait())) << number;
  }
}

TEST(StdioServer, ASecondSignalCutsTheGraceShort) {
  ServerProcess server({BAWN_FIXTURE_SERVER, "--grace-minutes", "30"});
  server.send(call_line(1, "hang"));
  server.send(
      R"({"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
  EXPECT_EQ(server.receive()["method"], "notifications/subscriptions/acknowledged");
  server.signal(SIGINT);
  EXPECT_EQ(server.receive()["id"], "L") << "the first signal ends subscriptions at once";
  server.signal(SIGINT);
  EXPECT_TRUE(ended_well(server.wait())) << "long before the half hour is over";
}

TEST(StdioServer, ACallIsAnsweredWhenTheEndComesWhileWhatCameWithItIsRead) {
  ServerProcess server({BAWN_FIXTURE_SERVER, "--grace-minutes", "30"});
  std::string at_once = call_line(1, "hang");
  for (int id = 100; id < 1100; ++id) {
    at_once += "\n" + ping_line(id);
  }
  server.send(at_once);
  EXPECT_EQ(server.receive()["id"], 100) << "the rest is still to be read";
  server.signal(SIGINT);
  server.close_input();
  const auto answer_to = [&](int id) {
    Json message = server.receive();
    while (!message.is_null() && message["id"] != id) {
      message = server.receive();
    }
    return message;
  };
  ASSERT_EQ(answer_to(1099)["id"], 1099);
  server.signal(SIGINT);
  EXPECT_EQ(answer_to(1)["result"]["content"][0]["text"], "interrupted");
  EXPECT_TRUE(ended_well(server.wait()));
}

TEST(StdioServer, TheUsualGraceIsShorterThanWhatClientsGive) {
  // The official clients send SIGTERM 2 s after they closed the input.
  const mcp::StdioOptions usual;
  EXPECT_LT(usual.eof_grace + usual.cancel_grace, std::chrono::seconds(2));
}

TEST_F(StdioLifecycle, EndsWhenItsOutputIsClosed) {
  server_.call(ping_line(1));
  server_.close_output();
  EXPECT_TRUE(ended_well(server_.wait()));
}

TEST_F(StdioLifecycle, KeepsTheOutputCleanAndTheInputToItself) {
  const Json answer = server_.call(call_line(1, "pollute"));
  EXPECT_EQ(answer["result"]["content"][0]["text"], "stdin is empty");
  EXPECT_EQ(server_.call(ping_line(2))["id"], 2);
  EXPECT_THAT(server_.errors(), HasSubstr("printed by a tool\nwritten by a tool\n"));
}

TEST_F(StdioLifecycle, AChildLeftBehindDoesNotHoldTheOutputOpen) {
  const Json answer = server_.call(call_line(1, "leave_child"));
  const pid_t child = std::stoi(answer["result"]["content"][0]["text"].get<std::string>());
  server_.close_input();
  EXPECT_TRUE(server_.output_ends());
  EXPECT_EQ(::kill(child, SIGKILL), 0) << "it was alive all the time";
}

TEST_F(StdioLifecycle, AFloodOfNonsenseFillsNoLogAndStopsNothing) {
  std::string flood;
  server_.stop_checking();
  constexpr int kLines = 20'000;
  for (int i = 0; i < kLines; ++i) {
    flood += "nonsense\n";
  }
  const auto begun = std::chrono::steady_clock::now();
  server_.write(flood);
  for (int i = 0; i < kLines; ++i) {
    ASSERT_EQ(server_.receive()["error"]["code"], -32700);
  }
  EXPECT_EQ(server_.call(ping_line(1))["id"], 1);
  const std::string errors = server_.errors();
  // Some twenty in ten seconds, however long the flood takes here.
  const auto took = std::chrono::steady_clock::now() - begun;
  const auto periods = std::chrono::duration_cast<std::chrono::seconds>(took).count() / 10 + 2;
  EXPECT_LT(std::ranges::count(errors, '\n'), 25 * periods);
}

TEST_F(StdioLifecycle, LeaksNoDescriptorOverManyCalls) {
  const auto count = [&] {
    const std::filesystem::path folder = "/proc/" + std::to_string(server_.pid()) + "/fd";
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  server_.call(call_line(1, "echo"));
  const auto before = count();
  for (int id = 0; id < 200; ++id) {
    server_.call(call_line(id, "echo"));
  }
  EXPECT_EQ(count(), before);
}

TEST(StdioServer, EndsWhenTheParentDiesThoughThePipesStayOpen) {
  ServerProcess shell({"/bin/sh", "-c", "exec 3<&0; \"$0\" <&3 & wait", BAWN_FIXTURE_SERVER});
  EXPECT_EQ(shell.call(ping_line(1))["id"], 1);
  shell.signal(SIGKILL);
  EXPECT_TRUE(shell.output_ends());
}

TEST(StdioServer, ReadsRegularFilesToo) {
  const TempDir folder;
  const auto requests = folder.write("in", ping_line(1) + "\n" + call_line(2, "echo"));
  const auto answers = folder.path() / "out";
  ServerProcess shell({"/bin/sh", "-c", "exec \"$0\" <\"$1\" >\"$2\"", BAWN_FIXTURE_SERVER,
                       requests.string(), answers.string()});
  EXPECT_TRUE(ended_well(shell.wait()));
  EXPECT_THAT(read_file(answers), HasSubstr("\"id\":1,\"result\":{}"));
  EXPECT_THAT(read_file(answers), HasSubstr("\"id\":2,\"result\""));
}

TEST(StdioServer, FailsAtOnceWithoutAnInput) {
  ServerProcess shell({"/bin/sh", "-c", "exec \"$0\" <&-", BAWN_FIXTURE_SERVER});
  const auto status = shell.wait();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 1);
}

}  // namespace
}  // namespace bawn::test
