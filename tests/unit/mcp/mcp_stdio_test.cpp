#include "bawn/contract/call_context.hpp"
#include "fake_tools.hpp"
#include "pipe_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>

namespace bawn::mcp::test {
namespace {

using contract::Json;
using contract::Outcome;
using contract::text_result;

std::string call_line(int id, std::string_view tool, std::string_view arguments = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":")" + std::string(tool) + R"(","arguments":)" +
         std::string(arguments) + "}}";
}

std::string ping_line(int id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"ping"})";
}

TEST(ServeStdio, AnswersACall) {
  PipeClient client({echo_tool()});
  const Json answer = client.call(call_line(7, "echo", R"({"a":1})"));
  EXPECT_EQ(answer["id"], 7);
  EXPECT_EQ(answer["result"]["content"][0]["text"], R"({"a":1})");
  EXPECT_EQ(answer["result"]["isError"], false);
}

TEST(ServeStdio, GivesArgumentsByteForByte) {
  PipeClient client({echo_tool()});
  const std::string raw = R"({ "b" : 1.50 ,"a":"\u00e9\/", "big":12345678901234567890 })";
  const Json answer = client.call(call_line(1, "echo", raw));
  EXPECT_EQ(answer["result"]["content"][0]["text"], raw);
}

TEST(ServeStdio, ReadsHalfLinesCrlfAndBlankLines) {
  PipeClient client({echo_tool()});
  const std::string line = ping_line(1);
  client.write(line.substr(0, 9));
  EXPECT_EQ(client.receive_line(std::chrono::milliseconds(50)), std::nullopt);
  client.write(line.substr(9) + "\r\n\r\n   \n\n" + ping_line(2) + "\n");
  EXPECT_EQ(client.receive()["id"], 1);
  EXPECT_EQ(client.receive()["id"], 2);
}

TEST(ServeStdio, AnswersTheLastLineWithoutANewline) {
  PipeClient client({echo_tool()});
  client.write(call_line(5, "echo"));
  client.close_input();
  EXPECT_EQ(client.receive()["id"], 5);
  EXPECT_EQ(client.end().cause, StdioEndCause::EndOfInput);
}

TEST(ServeStdio, GoesOnAfterABrokenLine) {
  PipeClient client({echo_tool()});
  client.send("nonsense");
  const Json error = client.receive();
  EXPECT_EQ(error["error"]["code"], -32700);
  EXPECT_FALSE(error.contains("id"));
  EXPECT_EQ(client.call(ping_line(1))["result"], Json::object());
}

TEST(ServeStdio, RefusesALineThatIsTooLongAndGoesOn) {
  PipeClient client({echo_tool()}, {}, {.max_line_bytes = 200'000});
  client.write(R"({"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":")");
  client.write(std::string(2'000'000, 'a'));
  client.write("\"}}\n");
  const Json error = client.receive();
  EXPECT_EQ(error["id"], 9);
  EXPECT_EQ(error["error"]["code"], -32600);
  EXPECT_EQ(client.call(ping_line(1))["result"], Json::object());
}

TEST(ServeStdio, KeepsReadingWhileCallsRun) {
  Hanging hanging;
  PipeClient client({hanging.tool(), echo_tool()});
  constexpr int kCalls = 20;
  for (int id = 0; id < kCalls; ++id) {
    client.send(call_line(100 + id, "hang"));
  }
  hanging.wait_until_begun(kCalls);
  EXPECT_EQ(client.call(ping_line(1))["result"], Json::object());
  EXPECT_EQ(client.call(call_line(2, "echo"))["result"]["isError"], false);
  EXPECT_TRUE(
      client.call(R"({"jsonrpc":"2.0","id":3,"method":"tools/list"})")["result"].contains("tools"));
}

TEST(ServeStdio, RunsManyCallsOfOneReadSideBySide) {
  Hanging hanging;
  PipeClient client({hanging.tool()});
  std::string burst;
  constexpr int kCalls = 64;
  for (int id = 0; id < kCalls; ++id) {
    burst += call_line(id, "hang") + "\n";
  }
  client.write(burst);
  hanging.wait_until_begun(kCalls);
  client.close_input();
  std::set<int> answered;
  for (int i = 0; i < kCalls; ++i) {
    answered.insert(client.receive()["id"].get<int>());
  }
  EXPECT_EQ(answered.size(), static_cast<std::size_t>(kCalls));
}

TEST(ServeStdio, RefusesCallsBeyondTheQueueAsBusy) {
  Hanging hanging;
  PipeClient client({hanging.tool()}, {.max_parallel_calls = 2, .max_queued_calls = 1});
  for (int id = 0; id < 2; ++id) {
    client.send(call_line(id, "hang"));
  }
  hanging.wait_until_begun(2);
  client.send(call_line(2, "hang"));
  const Json busy = client.call(call_line(3, "hang"));
  EXPECT_EQ(busy["result"]["isError"], true);
  EXPECT_THAT(busy["result"]["content"][0]["text"].get<std::string>(),
              ::testing::StartsWith("busy"));
  // The queued one gets the thread of the first that ends.
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}})");
  hanging.wait_until_begun(3);
}

TEST(ServeStdio, CancelsACallAndNeverAnswersIt) {
  Hanging hanging;
  PipeClient client({hanging.tool()});
  client.send(call_line(1, "hang"));
  hanging.wait_until_begun();
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}})");
  EXPECT_EQ(client.call(ping_line(2))["id"], 2) << "an id of another type is another id";
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  hanging.wait_until_ended();
  client.close_input();
  EXPECT_EQ(client.end().abandoned_calls, 0U);
  EXPECT_EQ(client.receive_line(std::chrono::milliseconds(100)), std::nullopt);
}

TEST(ServeStdio, AnswersASecondRequestOfALiveIdAndLeavesTheFirstAlone) {
  Hanging hanging;
  PipeClient client({hanging.tool(), echo_tool()});
  client.send(call_line(1, "hang"));
  hanging.wait_until_begun();
  EXPECT_EQ(client.call(call_line(1, "echo"))["error"]["code"], -32600);
  EXPECT_EQ(client.call(ping_line(1))["error"]["code"], -32600);
  client.close_input();
  EXPECT_EQ(client.receive()["result"]["content"][0]["text"], "interrupted");
}

TEST(ServeStdio, AnIdIsFreeAgainOnceItsAnswerIsSeen) {
  PipeClient client({echo_tool()});
  for (int round = 0; round < 200; ++round) {
    ASSERT_TRUE(client.call(call_line(1, "echo")).contains("result"));
  }
}

TEST(ServeStdio, GivesRunningCallsTheGraceTimeAtTheEndOfInput) {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool may_end = false;
  PipeClient client(
      {fake_tool("slow",
                 [&](const contract::Context& context, const contract::Call&) -> Outcome {
                   std::unique_lock lock(mutex);
                   const bool finished =
                       changed.wait(lock, context.stop_token(), [&] { return may_end; });
                   return text_result(finished ? "finished" : "interrupted");
                 })},
      {}, {.eof_grace = std::chrono::seconds(10)});
  client.send(call_line(1, "slow"));
  client.close_input();
  EXPECT_EQ(client.receive_line(std::chrono::milliseconds(50)), std::nullopt);
  {
    const std::scoped_lock lock(mutex);
    may_end = true;
    changed.notify_all();
  }
  EXPECT_EQ(client.receive()["result"]["content"][0]["text"], "finished");
  EXPECT_EQ(client.end().abandoned_calls, 0U);
}

TEST(ServeStdio, CancelsCallsAfterTheGraceTimeAndStillAnswersThem) {
  Hanging hanging;
  PipeClient client({hanging.tool()}, {}, {.eof_grace = std::chrono::milliseconds(50)});
  client.send(call_line(1, "hang"));
  hanging.wait_until_begun();
  client.close_input();
  EXPECT_EQ(client.receive()["result"]["content"][0]["text"], "interrupted");
  EXPECT_EQ(client.end().abandoned_calls, 0U);
}

TEST(ServeStdio, CountsCallsThatIgnoreCancellation) {
  std::mutex mutex;
  std::condition_variable changed;
  bool may_end = false;
  bool begun = false;
  bool ended = false;
  {
    PipeClient client({fake_tool("deaf",
                                 [&](const contract::Context&, const contract::Call&) -> Outcome {
                                   std::unique_lock lock(mutex);
                                   begun = true;
                                   changed.notify_all();
                                   changed.wait(lock, [&] { return may_end; });
                                   ended = true;
                                   changed.notify_all();
                                   return text_result("late");
                                 })},
                      {},
                      {.eof_grace = std::chrono::milliseconds(20),
                       .cancel_grace = std::chrono::milliseconds(20)});
    client.send(call_line(1, "deaf"));
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return begun; });
    }
    client.close_input();
    EXPECT_EQ(client.end().abandoned_calls, 1U);
  }
  std::unique_lock lock(mutex);
  may_end = true;
  changed.notify_all();
  changed.wait(lock, [&] { return ended; });
}

TEST(ServeStdio, EndsWhenTheClientClosesTheOutput) {
  PipeClient client({echo_tool()});
  EXPECT_EQ(client.call(ping_line(1))["id"], 1);
  client.close_output();
  EXPECT_EQ(client.end().cause, StdioEndCause::OutputClosed);
}

TEST(ServeStdio, AnswersEveryPingOfAFloodThatNobodyReadsMeanwhile) {
  PipeClient client({echo_tool()});
  client.stop_checking();
  constexpr int kPings = 100'000;
  std::string flood;
  for (int id = 0; id < kPings; ++id) {
    flood += ping_line(id) + "\n";
  }
  client.write(flood);
  for (int id = 0; id < kPings; ++id) {
    ASSERT_EQ(client.receive()["id"], id);
  }
}

TEST(ServeStdio, StopsReadingWhileTooMuchOutputWaits) {
  PipeClient client({echo_tool()}, {}, {.max_outgoing_bytes = 100'000});
  client.stop_checking();
  constexpr int kPings = 50'000;
  std::string flood;
  for (int id = 0; id < kPings; ++id) {
    flood += ping_line(id) + "\n";
  }
  // The writer blocks as soon as the server stops reading, which is the point.
  auto writing = std::async(std::launch::async, [&] { client.write(flood); });
  EXPECT_EQ(writing.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  for (int id = 0; id < kPings; ++id) {
    ASSERT_EQ(client.receive()["id"], id);
  }
  writing.get();
}

TEST(ServeStdio, ContainsWhatAToolThrows) {
  PipeClient client(
      {fake_tool("boom",
                 [](const contract::Context&, const contract::Call&) -> Outcome {
                   throw std::runtime_error("no such luck");
                 }),
       fake_tool("odd",
                 [](const contract::Context&, const contract::Call&) -> Outcome { throw 7; })});
  const Json answer = client.call(call_line(1, "boom"));
  EXPECT_EQ(answer["result"]["isError"], true);
  EXPECT_EQ(answer["result"]["content"][0]["text"], "tool \"boom\" panicked: no such luck");
  EXPECT_EQ(client.call(call_line(2, "odd"))["result"]["isError"], true);
}

TEST(ServeStdio, SendsAnAnswerThatThePipeCannotHoldAtOnce) {
  const std::string large(3'000'000, 'x');
  PipeClient client({fake_tool("large", [&](const contract::Context&, const contract::Call&) {
    return Outcome(text_result(large));
  })});
  EXPECT_EQ(client.call(call_line(1, "large"))["result"]["content"][0]["text"], large);
}

TEST(ServeStdio, RefusesToSendAResultThatClientsCannotTake) {
  PipeClient client({fake_tool("large",
                               [&](const contract::Context&, const contract::Call&) {
                                 return Outcome(text_result(std::string(100'000, 'x')));
                               })},
                    {.max_result_bytes = 50'000});
  const Json answer = client.call(call_line(1, "large"));
  EXPECT_EQ(answer["result"]["isError"], true);
  EXPECT_THAT(answer["result"]["content"][0]["text"].get<std::string>(),
              ::testing::HasSubstr("over the limit of 50000 bytes"));
}

TEST(ServeStdio, GivesSignsOfLifeOnlyToThoseWhoAsked) {
  Hanging hanging;
  PipeClient client({hanging.tool()}, {.progress_first = std::chrono::milliseconds(20),
                                       .progress_every = std::chrono::milliseconds(30)});
  client.send(call_line(1, "hang"));
  client.send(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang","_meta":{"progressToken":"p"}}})");
  for (int number = 1; number <= 3; ++number) {
    const Json message = client.receive();
    EXPECT_EQ(message["method"], "notifications/progress");
    EXPECT_EQ(message["params"]["progressToken"], "p");
    EXPECT_EQ(message["params"]["progress"], number);
  }
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  hanging.wait_until_ended();
  EXPECT_EQ(client.call(ping_line(3))["id"], 3);
  EXPECT_EQ(client.receive_line(std::chrono::milliseconds(100)), std::nullopt)
      << "no progress after the end of the request";
}

TEST(ServeStdio, CallsBesideEachOtherGetDifferentIdsAndOneSession) {
  std::mutex mutex;
  std::set<std::string> ids;
  PipeClient client(
      {fake_tool("who", [&](const contract::Context& context, const contract::Call& call) {
        const std::scoped_lock lock(mutex);
        ids.insert(call.id);
        const auto* const session = contract::session_from(context);
        return Outcome(text_result(session != nullptr && session->empty() ? "owner" : "nobody"));
      })});
  for (int id = 0; id < 3; ++id) {
    EXPECT_EQ(client.call(call_line(id, "who"))["result"]["content"][0]["text"], "owner");
  }
  const std::scoped_lock lock(mutex);
  EXPECT_EQ(ids.size(), 3U);
}

}  // namespace
}  // namespace bawn::mcp::test
