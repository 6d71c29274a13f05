/// \file
/// Plays the transcripts of the folders beside it, over stdio and over HTTP.
#include "transcript.hpp"

#include "http_connection.hpp"
#include "server_process.hpp"
#include "support/requirements.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <memory>
#include <sstream>

namespace bawn::test {
namespace {

using Parameter = ::testing::TestParamInfo<std::filesystem::path>;

std::string name_of(const Parameter& tested) {
  return tested.param.stem().string();
}

std::filesystem::path folder(const char* transport) {
  return std::filesystem::path(BAWN_TRANSCRIPTS) / transport;
}

TEST(WireSchemas, AreThereAndTellRightFromWrong) {
  if (!has_schema("2026-07-28")) {
    if (is_required("npm")) {
      FAIL() << "required by BAWN_TEST_REQUIRE: the schemas that clients.install brings";
    }
    GTEST_SKIP() << "the official suite is not installed: no message is held against a schema";
  }
  WireCheck check;
  check.sent(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
  const std::string right =
      R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}})";
  EXPECT_NE(check.problem(R"({"jsonrpc":"2.0","id":2,"result":{}})"), "") << "nobody asked";
  EXPECT_NE(check.problem(R"({"jsonrpc":"2.0","id":3,"error":{"code":"x","message":"y"}})"), "");
  EXPECT_NE(check.problem(R"({"jsonrpc":"2.0","method":"notifications/none"})"), "");
  EXPECT_EQ(check.problem(right), "");
  check.sent(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
  EXPECT_NE(
      check.problem(R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}})"),
      "")
      << "ttlMs and cacheScope are missing";
}

class StdioTranscript : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(StdioTranscript, IsAnsweredAsWritten) {
  const Transcript transcript = read_transcript(GetParam());
  ServerProcess server(transcript.server.front() == "fixture"
                           ? std::vector<std::string>{BAWN_FIXTURE_SERVER}
                           : std::vector<std::string>{BAWN_CONFORMANCE_SERVER, "--stdio"});
  Placeholders names;
  for (const Exchange& exchange : transcript.exchanges) {
    for (const std::string& line : exchange.sent) {
      server.send(names.filled(line));
    }
    for (const std::string& expected : exchange.expected) {
      const auto came = server.receive_line();
      ASSERT_TRUE(came) << "line " << exchange.line << ": nothing came";
      EXPECT_TRUE(names.match(expected, *came))
          << "line " << exchange.line << "\nexpected: " << expected << "\ncame:     " << *came;
    }
  }
  server.close_input();
  EXPECT_EQ(server.receive_line(), std::nullopt) << "more came than the transcript says";
  EXPECT_EQ(server.wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Golden, StdioTranscript,
                         ::testing::ValuesIn(transcripts_in(folder("stdio"))), name_of);

/// The request's bytes. `{length}` becomes the body's.
std::string request_of(const Exchange& exchange, const Placeholders& names) {
  const auto blank = std::ranges::find(exchange.sent, "");
  std::string body;
  for (auto line = blank; line != exchange.sent.end(); ++line) {
    body += line == blank ? "" : names.filled(*line);
  }
  std::string head;
  for (auto line = exchange.sent.begin(); line != blank; ++line) {
    std::string text = names.filled(*line);
    if (const auto at = text.find("{length}"); at != std::string::npos) {
      text.replace(at, 8, std::to_string(body.size()));
    }
    head += text + "\r\n";
  }
  return head + "\r\n" + body;
}

/// The reply's lines: the head, a blank one, the body.
std::vector<std::string> lines_of(const HttpReply& reply) {
  std::vector<std::string> lines;
  std::istringstream head(reply.head);
  for (std::string line; std::getline(head, line);) {
    lines.push_back(line.substr(0, line.find('\r')));
  }
  std::istringstream body(reply.body);
  lines.emplace_back();
  for (std::string line; std::getline(body, line);) {
    lines.push_back(line);
  }
  return lines;
}

class HttpTranscript : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(HttpTranscript, IsAnsweredAsWritten) {
  const Transcript transcript = read_transcript(GetParam());
  std::vector<std::string> words = transcript.server;
  words.front() = BAWN_CONFORMANCE_SERVER;
  words.insert(words.begin() + 1, "0");
  ServerProcess server(std::move(words));
  server.stop_checking();  // the line with its port
  const auto port = static_cast<std::uint16_t>(std::stoi(server.receive_line().value_or("0")));
  Placeholders names;
  for (const Exchange& exchange : transcript.exchanges) {
    HttpConnection connection(port);
    connection.write(request_of(exchange, names));
    const auto came = lines_of(connection.reply());
    EXPECT_EQ(came.size(), exchange.expected.size()) << "line " << exchange.line;
    for (std::size_t i = 0; i < std::min(came.size(), exchange.expected.size()); ++i) {
      EXPECT_TRUE(names.match(exchange.expected[i], came[i]))
          << "line " << exchange.line << "\nexpected: " << exchange.expected[i]
          << "\ncame:     " << came[i];
    }
  }
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Golden, HttpTranscript,
                         ::testing::ValuesIn(transcripts_in(folder("http"))), name_of);

}  // namespace
}  // namespace bawn::test
