#include "scripted_http.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace bawn::mcp::test {

ScriptedHttp::ScriptedHttp(Answer answer)
    : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener_, 16), 0);
  EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  origin_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { serve(); });
}

ScriptedHttp::~ScriptedHttp() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

void ScriptedHttp::serve() {
  int fd = -1;
  while ((fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0) {
    serve_one(fd);
    ::close(fd);
  }
}

void ScriptedHttp::serve_one(int fd) const {
  std::string text;
  std::array<char, 4096> part{};
  std::size_t whole = std::string::npos;
  while (text.size() < whole) {
    const ssize_t got = ::recv(fd, part.data(), part.size(), 0);
    if (got <= 0) {
      return;
    }
    text.append(part.data(), static_cast<std::size_t>(got));
    const auto head = text.find("\r\n\r\n");
    if (head != std::string::npos && whole == std::string::npos) {
      const auto length = text.find("Content-Length: ");
      whole = head + 4 + (length < head ? std::stoul(text.substr(length + 16)) : 0);
    }
  }
  const auto line = text.find("\r\n");
  const auto head = text.find("\r\n\r\n");
  const auto space = text.find(' ');
  const ScriptedRequest request{
      .method = text.substr(0, space),
      .target = text.substr(space + 1, text.find(' ', space + 1) - space - 1),
      .head = text.substr(line + 2, head - line),
      .body = text.substr(head + 4)};
  const ScriptedReply reply = answer_(request);
  const std::string bytes = "HTTP/1.1 " + std::to_string(reply.status) +
                            " X\r\nContent-Type: application/json\r\nConnection: close\r\n" +
                            reply.headers + "Content-Length: " + std::to_string(reply.body.size()) +
                            "\r\n\r\n" + reply.body;
  EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

}  // namespace bawn::mcp::test
