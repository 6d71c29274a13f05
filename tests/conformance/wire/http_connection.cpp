#include "http_connection.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace bawn::test {
namespace {

constexpr int kPatienceMs = 60'000;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// A whole request, as tests mostly write it, says which revision its answer belongs to. Without a
/// header and outside of a session that is 2025-03-26.
void note_request(WireCheck& check, std::string_view bytes) {
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return;
  }
  const std::string head = lower(std::string(bytes.substr(0, end)) + "\r\n");
  constexpr std::string_view kName = "\r\nmcp-protocol-version:";
  std::string revision = "2025-03-26";
  if (const auto found = head.find(kName); found != std::string::npos) {
    const auto begin = head.find_first_not_of(" \t", found + kName.size());
    revision = head.substr(begin, head.find("\r\n", begin) - begin);
  }
  std::string_view body = bytes.substr(end + 4);
  const auto size_end = body.find("\r\n");
  if (head.find("\r\ntransfer-encoding:") != std::string::npos &&
      size_end != std::string_view::npos) {
    body = body.substr(size_end + 2);  // of the one chunk that tests send
    body = body.substr(0, body.find("\r\n0\r\n"));
  }
  check.sent(body, revision);
}

}  // namespace

std::vector<std::string> HttpReply::messages() const {
  if (const auto type = headers.find("content-type");
      type == headers.end() || type->second != "text/event-stream") {
    return body.empty() ? std::vector<std::string>{} : std::vector{body};
  }
  constexpr std::string_view kData = "data: ";
  std::vector<std::string> all;
  for (std::size_t at = 0; at < body.size();) {
    const auto end = std::min(body.find('\n', at), body.size());
    const std::string_view line = std::string_view(body).substr(at, end - at);
    if (line.starts_with(kData)) {
      all.emplace_back(line.substr(kData.size()));
    }
    at = end + 1;
  }
  return all;
}

HttpConnection::HttpConnection(std::uint16_t port)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

HttpConnection::HttpConnection(const std::string& path)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

HttpConnection::~HttpConnection() {
  close();
}

void HttpConnection::close() {
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
}

void HttpConnection::write(std::string_view bytes) {
  note_request(check_, bytes);
  while (!bytes.empty()) {
    const ssize_t written = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written <= 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool HttpConnection::read_some() {
  pollfd entry{.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&entry, 1, kPatienceMs) != 1) {
    return false;
  }
  std::array<char, 65536> part{};
  const ssize_t got = ::recv(fd_, part.data(), part.size(), 0);
  if (got <= 0) {
    return false;
  }
  buffer_.append(part.data(), static_cast<std::size_t>(got));
  return true;
}

bool HttpConnection::read_until(std::string_view text) {
  while (buffer_.find(text) == std::string::npos) {
    if (!read_some()) {
      return false;
    }
  }
  return true;
}

HttpReply HttpConnection::reply() {
  HttpReply reply;
  if (!read_until("\r\n\r\n")) {
    return reply;
  }
  const auto end = buffer_.find("\r\n\r\n");
  reply.head = buffer_.substr(0, end);
  buffer_.erase(0, end + 4);
  reply.status = std::stoi(reply.head.substr(9, 3));
  for (auto at = reply.head.find("\r\n"); at != std::string::npos;) {
    const auto next = reply.head.find("\r\n", at + 2);
    const std::string line =
        reply.head.substr(at + 2, next == std::string::npos ? next : next - at - 2);
    const auto colon = line.find(": ");
    reply.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
    at = next;
  }
  read_body(reply);
  const std::string type = reply.headers["content-type"];
  if (type == "application/json" || type == "text/event-stream") {
    for (const std::string& message : reply.messages()) {
      check_.received(message);
    }
  }
  return reply;
}

void HttpConnection::read_body(HttpReply& reply) {
  if (reply.headers.contains("content-length")) {
    const auto length = std::stoul(reply.headers["content-length"]);
    while (buffer_.size() < length && read_some()) {
    }
    reply.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return;
  }
  while (reply.headers["transfer-encoding"] == "chunked" && read_until("\r\n")) {
    const auto line_end = buffer_.find("\r\n");
    const auto size = std::stoul(buffer_.substr(0, line_end), nullptr, 16);
    while (buffer_.size() < line_end + 4 + size && read_some()) {
    }
    reply.body += buffer_.substr(line_end + 2, size);
    buffer_.erase(0, line_end + 4 + size);
    if (size == 0) {
      break;
    }
  }
}

bool HttpConnection::is_closed() {
  std::array<char, 4096> part{};
  pollfd entry{.fd = fd_, .events = POLLIN, .revents = 0};
  while (::poll(&entry, 1, kPatienceMs) == 1) {
    if (::recv(fd_, part.data(), part.size(), 0) <= 0) {
      return true;
    }
  }
  return false;
}

}  // namespace bawn::test
