#include "net/http_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bawn::sandbox::net {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HttpRequest, ConnectNamesHostAndPort) {
  const auto request = parse_request("CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->connect);
  EXPECT_EQ(request->host, "example.org");
  EXPECT_EQ(request->port, 443);
  EXPECT_EQ(parse_request("CONNECT [2001:db8::1]:8443 HTTP/1.0\r\n\r\n")->host, "2001:db8::1");
}

TEST(HttpRequest, AnAbsoluteFormIsForwardedInOriginFormWithItsOwnHost) {
  const auto request = parse_request(
      "POST HTTP://Example.org:8080/a?b=c HTTP/1.1\r\nHost: other.org\r\nProxy-Connection: "
      "keep-alive\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nProxy-Authorization: s\r\n"
      "Content-Length: 5\r\nAccept: */*\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_FALSE(request->connect);
  EXPECT_EQ(request->host, "Example.org");
  EXPECT_EQ(request->port, 8080);
  EXPECT_EQ(request->body, 5U);
  EXPECT_EQ(request->head,
            "POST /a?b=c HTTP/1.1\r\nHost: Example.org:8080\r\nContent-Length: 5\r\nAccept: */*\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_THAT(parse_request("GET http://a.org HTTP/1.1\r\n\r\n")->head, HasSubstr("GET / HTTP"));
  EXPECT_THAT(parse_request("GET http://a.org?q HTTP/1.1\r\n\r\n")->head, HasSubstr("GET /?q HT"));
}

TEST(HttpRequest, AConnectionFieldCannotTakeTheBodysLengthAway) {
  const auto request = parse_request(
      "POST http://a.org/ HTTP/1.1\r\nConnection: content-length\r\nContent-Length: 3\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_THAT(request->head, HasSubstr("Content-Length: 3"));
}

TEST(HttpRequest, WhatTwoReadersCouldTakeDifferentlyIsRefused) {
  const std::string get = "GET http://a.org/ HTTP/1.1\r\n";
  for (const std::string& text : std::vector<std::string>{
           "GET http://a.org/ HTTP/1.1\n\n",
           "GET  http://a.org/ HTTP/1.1\r\n\r\n",
           "GET http://a.org/ x HTTP/1.1\r\n\r\n",
           "GET http://a.org/ HTTP/2.0\r\n\r\n",
           "GET /path HTTP/1.1\r\nHost: a.org\r\n\r\n",
           "GET https://a.org/ HTTP/1.1\r\n\r\n",
           "GET ftp://a.org/ HTTP/1.1\r\n\r\n",
           "GET http://user:pw@a.org/ HTTP/1.1\r\n\r\n",
           "GET http:// HTTP/1.1\r\n\r\n",
           "GET http://a.org:0/ HTTP/1.1\r\n\r\n",
           "GET http://a.org:65536/ HTTP/1.1\r\n\r\n",
           "GET http://a.org:/ HTTP/1.1\r\n\r\n",
           "GET http://a.org/#f HTTP/1.1\r\n\r\n",
           "GET http://[a.org]/ HTTP/1.1\r\n\r\n",
           "CONNECT a.org HTTP/1.1\r\n\r\n",
           "CONNECT a.org:443:443 HTTP/1.1\r\n\r\n",
           "CONNECT u@a.org:443 HTTP/1.1\r\n\r\n",
           "CONNECT a.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
           "CONNECT a.org:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
           get + "Host: a.org\r\nHost: b.org\r\n\r\n",
           get + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
           get + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           get + "Content-Length: +1\r\n\r\n",
           get + "Content-Length: -1\r\n\r\n",
           get + "Content-Length: 1,1\r\n\r\n",
           get + "Content-Length: 99999999999999999999999\r\n\r\n",
           get + "Transfer-Encoding: gzip, chunked\r\n\r\n",
           get + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
           get + "Transfer-Encoding : chunked\r\n\r\n",
           get + "A: b\r\n folded\r\n\r\n",
           get + "A: b\rc\r\n\r\n",
           get + "A: b\nX: y\r\n\r\n",
           get + std::string("A: b\0c\r\n\r\n", 10),
           get + ": empty\r\n\r\n",
           get + "no colon\r\n\r\n",
       }) {
    const auto request = parse_request(text);
    ASSERT_FALSE(request) << text;
    EXPECT_EQ(request.error().status, 400) << text;
    EXPECT_NE(request.error().sentence, "") << text;
  }
}

TEST(HttpRequest, TooManyFieldsAreTooMany) {
  std::string text = "GET http://a.org/ HTTP/1.1\r\n";
  for (int at = 0; at < 200; ++at) {
    text += "A: b\r\n";
  }
  EXPECT_EQ(parse_request(text + "\r\n").error().status, 431);
}

TEST(HttpRefusal, SaysWhyInItsBody) {
  const std::string answer = to_response({403, "the policy says no"});
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nbawn: the policy says no.\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 26\r\n"));
}

BodyEnd body_of(const std::string& framing) {
  const auto request = parse_request("POST http://a.org/ HTTP/1.1\r\n" + framing + "\r\n\r\n");
  EXPECT_TRUE(request);
  return BodyEnd(request.value_or(ProxyRequest{}));
}

TEST(BodyEnd, CountsALength) {
  BodyEnd body = body_of("Content-Length: 5");
  EXPECT_EQ(body.take("abc"), 3U);
  EXPECT_FALSE(body.done());
  EXPECT_EQ(body.take("deGET http://b.org/ HTTP/1.1"), 2U) << "what follows is not the body's";
  EXPECT_TRUE(body.done());
}

TEST(BodyEnd, FollowsChunksHoweverTheyAreCut) {
  const std::string stream = "3;x=y\r\nabc\r\n00a\r\n0123456789\r\n0\r\nTrail: er\r\n\r\n";
  BodyEnd at_once = body_of("Transfer-Encoding: chunked");
  EXPECT_EQ(at_once.take(stream + "GET"), stream.size());
  EXPECT_TRUE(at_once.done());
  BodyEnd piecemeal = body_of("Transfer-Encoding: chunked");
  for (const char byte : stream) {
    EXPECT_FALSE(piecemeal.done());
    EXPECT_EQ(piecemeal.take(std::string_view(&byte, 1)), 1U);
  }
  EXPECT_TRUE(piecemeal.done());
}

TEST(BodyEnd, MalformedChunksEndTheConnection) {
  for (const char* stream : {"x\r\n", "\r\n", "3\nabc\r\n", "3\r\nabcd\r\n", "3\r\nabc\n",
                             "11112222333344445\r\n", "-1\r\n", " 3\r\n", "0\r\n\n"}) {
    BodyEnd body = body_of("Transfer-Encoding: chunked");
    EXPECT_EQ(body.take(stream), std::nullopt) << stream;
  }
  BodyEnd endless = body_of("Transfer-Encoding: chunked");
  EXPECT_EQ(endless.take("3;" + std::string(40000, 'x')), std::nullopt);
}

}  // namespace
}  // namespace bawn::sandbox::net
