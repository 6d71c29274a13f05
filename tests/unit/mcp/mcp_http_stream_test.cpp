// Answers that take time: streams, cancellation and the end of the server.
#include "fake_tools.hpp"
#include "http_client.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

namespace bawn::mcp::test {
namespace {

using contract::Call;
using contract::Context;
using contract::Json;
using contract::Outcome;
using contract::text_result;

TEST(Http, ClosingTheConnectionCancelsAModernCall) {
  Hanging hanging;
  const HttpFixture http({hanging.tool()});
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(modern_body(1, "tools/call", {{"name", "hang"}})));
  hanging.wait_until_begun();
  connection.close();
  hanging.wait_until_ended();
}

TEST(Http, TheEndOfTheServerCancelsWhatDoesNotEnd) {
  Hanging hanging;
  HttpOptions options;
  options.stop_grace = std::chrono::milliseconds(50);
  HttpFixture http({hanging.tool()}, {}, options);
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(modern_body(1, "tools/call", {{"name", "hang"}})));
  hanging.wait_until_begun();
  EXPECT_EQ(http.stop().abandoned_calls, 0U);
  EXPECT_EQ(text_of(connection.reply().json()), "interrupted") << "its answer still comes";
}

TEST(Http, ALongAnswerBecomesAStreamWithComments) {
  HttpOptions options;
  options.stream_after = std::chrono::milliseconds(1);
  options.keep_alive = std::chrono::milliseconds(10);
  std::promise<void> go;
  const auto tool = fake_tool("slow", [&](const Context&, const Call&) -> Outcome {
    go.get_future().wait();
    return text_result("late");
  });
  const HttpFixture http({tool}, {}, options);
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(modern_body(1, "tools/call", {{"name", "slow"}})));
  EXPECT_TRUE(connection.read_until("text/event-stream"));
  EXPECT_TRUE(connection.read_until(":\n\n"));
  go.set_value();
  EXPECT_TRUE(connection.read_until("event: message\ndata: {"));
  EXPECT_TRUE(connection.read_until("late"));
  EXPECT_TRUE(connection.read_until("0\r\n\r\n"));
}

TEST(Http, ASubscriptionIsToldOfChangesAndEndsWithTheServer) {
  HttpOptions options;
  options.flush_grace = std::chrono::minutes(1);
  HttpFixture http({echo_tool()}, {.lists_change = true}, options);
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(
      modern_body(5, "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}})));
  ASSERT_TRUE(connection.read_until("notifications/subscriptions/acknowledged"));
  http.server().list_changed(ListKind::Prompts);
  http.server().list_changed(ListKind::Tools);
  ASSERT_TRUE(connection.read_until("notifications/tools/list_changed"));
  EXPECT_EQ(connection.seen().find("notifications/prompts"), std::string::npos);
  http.stop();
  EXPECT_TRUE(connection.read_until(R"("resultType":"complete")"));
}

TEST(Http, AMessageThatComesWhileAnotherIsWrittenIsNotSleptOver) {
  // The acknowledgement is being written while the change comes.
  HttpOptions options;
  options.keep_alive = std::chrono::minutes(10);  // its comment would wake a sleeper
  HttpFixture http({echo_tool()}, {.lists_change = true}, options);
  for (int id = 1; id <= 200; ++id) {
    HttpConnection connection(http.port());
    connection.write(HttpFixture::modern(modern_body(
        id, "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}})));
    ASSERT_TRUE(connection.read_until("200 OK"));
    http.server().list_changed(ListKind::Tools);
    ASSERT_TRUE(connection.read_until("notifications/tools/list_changed")) << id;
  }
}

TEST(Http, TheEndOfTheServerWritesWhatIsQueuedOnASessionsStream) {
  HttpOptions options;
  options.flush_grace = std::chrono::minutes(1);
  HttpFixture http({echo_tool()}, {.lists_change = true}, options);
  const Json begin = legacy_begin();
  const std::string id = http.send(HttpFixture::legacy(begin)).headers.at("mcp-session-id");
  HttpConnection stream(http.port());
  stream.write("GET /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: " + id +
               "\r\nAccept: text/event-stream\r\n\r\n");
  ASSERT_TRUE(stream.read_until("200 OK"));
  http.server().list_changed(ListKind::Tools);
  http.stop();
  EXPECT_TRUE(stream.read_until("notifications/tools/list_changed"));
  EXPECT_TRUE(stream.read_until("0\r\n\r\n")) << "and the stream ends in order";
}

}  // namespace
}  // namespace bawn::mcp::test
