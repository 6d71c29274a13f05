// Requests that a proxy and the server could take differently, or that would fill its memory.
#include "fake_tools.hpp"
#include "http_client.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <map>
#include <string>
#include <utility>

namespace bawn::mcp::test {
namespace {

using contract::Call;
using contract::Context;
using contract::Json;
using contract::Outcome;
using contract::text_result;
using ::testing::HasSubstr;

std::string echo(int id) {
  return HttpFixture::modern(
      modern_body(id, "tools/call", {{"name", "echo"}, {"arguments", Json::object()}}));
}

/// `request` with one more header line in front of the others.
std::string with_line(std::string request, const std::string& line) {
  request.insert(request.find("\r\n") + 2, line + "\r\n");
  return request;
}

class HttpHostile : public ::testing::Test {
 protected:
  /// Sends it on a connection of its own, which must then be closed.
  void expect_refused(const std::string& request, int status, const std::string& what) {
    HttpConnection connection(http_.port());
    connection.write(request);
    EXPECT_EQ(connection.reply().status, status) << what;
    EXPECT_TRUE(connection.is_closed()) << what;
  }
  const HttpFixture http_{{echo_tool()}};
};

TEST_F(HttpHostile, HeadersThatRouteARequestMayBeThereOnce) {
  const std::map<std::string, std::string> single = {{"Host", "localhost"},
                                                     {"Origin", "http://localhost"},
                                                     {"Authorization", "Bearer x"},
                                                     {"Content-Type", "application/json"},
                                                     {"MCP-Protocol-Version", "2026-07-28"},
                                                     {"Mcp-Method", "tools/call"},
                                                     {"Mcp-Name", "echo"},
                                                     {"Mcp-Param-Region", "eu"},
                                                     {"Mcp-Session-Id", "0"}};
  for (const auto& [name, value] : single) {
    const std::string line = name + ": " + value;
    std::string other = line;
    other[0] = 'x';  // no header that means anything
    const bool usual = echo(1).find("\r\n" + name + ": ") != std::string::npos;
    const std::string once = usual ? echo(1) : with_line(echo(1), line);
    EXPECT_NE(http_.send(with_line(once, other)).status, 400) << name;
    expect_refused(with_line(once, line), 400, name);
    std::string spelt = line;
    spelt[0] = static_cast<char>(spelt[0] + ('a' - 'A'));
    expect_refused(with_line(once, spelt), 400, spelt);
  }
  const std::string both = with_line(
      HttpFixture::modern(modern_body(1, "tools/list"), {{"Accept", "text/event-stream"}}),
      "Accept: application/json");
  EXPECT_EQ(http_.send(both).headers["content-type"], "application/json") << "lists may be split";
}

TEST_F(HttpHostile, LengthsThatCanBeTakenDifferentlyAreRefused) {
  const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const auto with = [&](const std::string& lines, const std::string& text) {
    return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Accept: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\n" +
           lines + "\r\n" + text;
  };
  const std::string length = std::to_string(body.size());
  const std::string chunks = "28\r\n" + body + "\r\n0\r\n\r\n";
  EXPECT_EQ(http_.send(with("Content-Length: " + length + "\r\n", body)).status, 200);
  EXPECT_EQ(http_.send(with("Transfer-Encoding: chunked\r\n", chunks)).status, 200);
  for (const std::string& lines :
       {"Content-Length: " + length + "\r\nTransfer-Encoding: chunked\r\n",
        std::string("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"),
        std::string("Content-Length: 4\r\nContent-Length: " + length + "\r\n"),
        std::string("Content-Length: " + length + "\r\nContent-Length: " + length + "\r\n"),
        std::string("Content-Length: +" + length + "\r\n"), std::string("Content-Length: 0x28\r\n"),
        std::string("Content-Length: 4 0\r\n"), std::string("Transfer-Encoding : chunked\r\n"),
        std::string("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n")}) {
    expect_refused(with(lines, chunks), 400, lines);
  }
  for (const std::string coding : {"gzip, chunked", "chunked, identity", "xchunked", "identity"}) {
    expect_refused(with("Transfer-Encoding: " + coding + "\r\n", chunks), 501, coding);
  }
}

TEST_F(HttpHostile, TheBodyOfGetOrDeleteIsNoSecondRequest) {
  std::atomic<int> ran = 0;
  const HttpFixture http({fake_tool("act", [&](const Context&, const Call&) -> Outcome {
    ++ran;
    return text_result("done");
  })});
  const std::string session =
      http.send(HttpFixture::legacy(legacy_begin())).headers["mcp-session-id"];
  const std::string hidden = HttpFixture::modern(modern_body(2, "tools/call", {{"name", "act"}}));
  for (const std::string method : {"GET", "DELETE"}) {
    const std::string head =
        method + " /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: " + session + "\r\n";
    for (const bool chunked : {false, true}) {
      HttpConnection connection(http.port());
      connection.write(head +
                       (chunked ? "Transfer-Encoding: chunked\r\n\r\n"
                                : "Content-Length: " + std::to_string(hidden.size()) + "\r\n\r\n") +
                       hidden);
      EXPECT_EQ(connection.reply().status, 400) << method;
      EXPECT_TRUE(connection.is_closed()) << method;
    }
  }
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(http.send(hidden).status, 200);
  EXPECT_EQ(ran, 1) << "it would have run";
}

// Neither limit of headers and bodies counts these.
TEST_F(HttpHostile, WhatStandsBetweenChunksIsBounded) {
  const std::string much(std::size_t{512} << 10U, '0');
  std::string trailers;
  while (trailers.size() < much.size()) {
    trailers += "A: b\r\n";
  }
  const std::string head =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Accept: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& tail :
       {"5;" + much, much, "1\r\n{\r\n0\r\nA: " + much, "1\r\n{\r\n0\r\n" + trailers}) {
    expect_refused(head + tail, 400, tail.substr(0, 20));
  }
}

// Who never says anything does not hold a place as long as a client between its requests may.
TEST_F(HttpHostile, AConnectionBeginsUnderTheTimeOfHeadersAndGoesOnUnderThatOfIdling) {
  HttpOptions options;
  options.header_timeout = std::chrono::milliseconds(10);
  options.idle_timeout = std::chrono::minutes(10);
  const HttpFixture hurried({echo_tool()}, {}, options);
  EXPECT_TRUE(HttpConnection(hurried.port()).is_closed());
  std::swap(options.header_timeout, options.idle_timeout);
  const HttpFixture patient({echo_tool()}, {}, options);
  HttpConnection silent(patient.port());
  HttpConnection used(patient.port());
  used.write(echo(1));
  EXPECT_EQ(used.reply().json()["id"], 1);
  EXPECT_TRUE(used.is_closed());
  silent.write(echo(2));
  EXPECT_EQ(silent.reply().json()["id"], 2);
}

TEST_F(HttpHostile, RequestsSentAheadAreAnsweredInTheirOrder) {
  HttpConnection connection(http_.port());
  constexpr int kRequests = 20;
  for (int id = 1; id <= kRequests; ++id) {
    connection.write(echo(id));
    connection.write("\r\n");  // as some clients send behind a body
  }
  for (int id = 1; id <= kRequests; ++id) {
    EXPECT_EQ(connection.reply().json()["id"], id);
  }
}

TEST_F(HttpHostile, AClientThatLeavesIsNoticedBehindWhatItSentAhead) {
  Hanging hanging;
  const HttpFixture http({hanging.tool()});
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(modern_body(1, "tools/call", {{"name", "hang"}})));
  connection.write("\r\n" + echo(2));
  hanging.wait_until_begun();
  connection.write("more");
  connection.close();
  hanging.wait_until_ended();
}

TEST_F(HttpHostile, WhatIsSentAheadOfAStreamsEndIsAnsweredBehindIt) {
  HttpOptions options;
  options.stream_after = std::chrono::milliseconds(1);
  std::promise<void> go;
  const auto gone = go.get_future().share();
  const HttpFixture http({fake_tool("slow",
                                    [gone](const Context&, const Call&) -> Outcome {
                                      gone.wait();
                                      return text_result("late");
                                    }),
                          echo_tool()},
                         {}, options);
  HttpConnection connection(http.port());
  connection.write(HttpFixture::modern(modern_body(1, "tools/call", {{"name", "slow"}})));
  EXPECT_TRUE(connection.read_until("text/event-stream"));
  connection.write(echo(2));
  go.set_value();
  EXPECT_THAT(connection.reply().body, HasSubstr("late"));
  EXPECT_THAT(connection.reply().body, HasSubstr("\"id\":2"));
}

}  // namespace
}  // namespace bawn::mcp::test
