#include "http_client.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace bawn::mcp::test {
namespace {

using contract::Json;

constexpr int kPatienceMs = 60'000;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string request_text(const Json& body, Headers headers, const Headers& changes) {
  for (const auto& [name, value] : changes) {
    headers[name] = value;
  }
  const std::string text = contract::dump_json(body);
  std::string request = "POST /mcp HTTP/1.1\r\n";
  headers.emplace("Content-Length", std::to_string(text.size()));
  for (const auto& [name, value] : headers) {
    if (!value.empty()) {
      request.append(name).append(": ").append(value).append("\r\n");
    }
  }
  return request + "\r\n" + text;
}

Headers common() {
  return {{"Host", "localhost"},
          {"Content-Type", "application/json"},
          {"Accept", "application/json, text/event-stream"}};
}

}  // namespace

HttpConnection::HttpConnection(std::uint16_t port)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
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

void HttpConnection::write(std::string_view bytes) const {
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
  std::string head = buffer_.substr(0, end);
  buffer_.erase(0, end + 4);
  reply.status = std::stoi(head.substr(9, 3));
  for (auto at = head.find("\r\n"); at != std::string::npos;) {
    const auto next = head.find("\r\n", at + 2);
    const std::string line = head.substr(at + 2, next == std::string::npos ? next : next - at - 2);
    const auto colon = line.find(": ");
    reply.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
    at = next;
  }
  if (reply.headers.contains("content-length")) {
    const auto length = std::stoul(reply.headers["content-length"]);
    while (buffer_.size() < length && read_some()) {
    }
    reply.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return reply;
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
  return reply;
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

HttpFixture::HttpFixture(std::vector<contract::ToolPtr> tools, ServerOptions server_options,
                         HttpOptions options)
    : server_(Server::create(std::move(server_options), std::move(tools)).value()),
      source_(options.context) {
  auto ready = std::make_shared<std::promise<std::uint16_t>>();
  auto port = ready->get_future();
  options.handle_signals = false;
  options.context = source_.context();
  options.on_ready = [ready](std::uint16_t bound) { ready->set_value(bound); };
  serving_ = std::async(std::launch::async, [this, options = std::move(options)] {
    return serve_http(server_, options);
  });
  EXPECT_EQ(port.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  port_ = port.get();
}

HttpFixture::~HttpFixture() {
  if (serving_.valid()) {
    stop();
  }
}

HttpEnd HttpFixture::stop() {
  source_.cancel(contract::CancelReason::Closed);
  const auto end = serving_.get();
  EXPECT_TRUE(end);
  return end.value_or(HttpEnd{});
}

std::string HttpFixture::modern(const Json& body, const Headers& headers) {
  Headers all = common();
  all["MCP-Protocol-Version"] = "2026-07-28";
  all["Mcp-Method"] = body.value("method", "");
  if (body.contains("params") && body["params"].contains("name")) {
    all["Mcp-Name"] = body["params"]["name"].get<std::string>();
  }
  return request_text(body, std::move(all), headers);
}

std::string HttpFixture::legacy(const Json& body, const Headers& headers) {
  Headers all = common();
  all["MCP-Protocol-Version"] = "2025-11-25";
  return request_text(body, std::move(all), headers);
}

HttpReply HttpFixture::send(const std::string& request) const {
  HttpConnection connection(port_);
  connection.write(request);
  return connection.reply();
}

Json modern_body(int id, const std::string& method, Json params, Json capabilities) {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", std::move(capabilities)}};
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace bawn::mcp::test
