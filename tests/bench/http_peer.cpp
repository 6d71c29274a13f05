#include "http_peer.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace bawn::bench {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

constexpr std::string_view kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string request_text(std::string_view method, std::string_view headers,
                         std::string_view params) {
  std::string body = R"({"jsonrpc":"2.0","id":1,"method":")";
  body.append(method).append(R"(","params":{)").append(params).append(kMeta).append("}}");
  std::string request =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
      "Mcp-Method: ";
  request.append(method).append("\r\n").append(headers);
  return request + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::unexpected<Error> failed(const char* call) {
  return std::unexpected(Error::from_errno(errno, call, "a server over HTTP"));
}

}  // namespace

Result<HttpPeer> HttpPeer::start(const std::vector<std::string>& argv,
                                 const std::vector<std::string>& added) {
  std::array<int, 2> errors{};
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_adddup2(&actions, errors[1], 2);
  std::vector<std::string> words = argv;
  std::vector<char*> argument_list;
  for (std::string& word : words) {
    argument_list.push_back(word.data());
  }
  argument_list.push_back(nullptr);
  std::vector<std::string> variables = added;
  std::vector<char*> environment;
  for (std::string& variable : variables) {
    environment.push_back(variable.data());
  }
  for (char** one = environ; *one != nullptr; ++one) {
    environment.push_back(*one);
  }
  environment.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argument_list[0], &actions, nullptr, argument_list.data(),
                                  environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(errors[1]);
  HttpPeer peer(pid, os::UniqueFd(errors[0]));
  if (error != 0) {
    return std::unexpected(Error::from_errno(error, "posix_spawn", argv[0]));
  }
  BAWN_TRY(peer.find_port());
  return peer;
}

HttpPeer::HttpPeer(HttpPeer&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      errors_(std::move(other.errors_)),
      port_(other.port_),
      connections_(std::move(other.connections_)) {}

HttpPeer::~HttpPeer() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

Result<> HttpPeer::find_port() {
  constexpr std::string_view kMark = "http://127.0.0.1:";
  std::string said;
  std::array<char, 512> part{};
  while (said.find('\n') == std::string::npos) {
    const ssize_t got = ::read(errors_.get(), part.data(), part.size());
    if (got <= 0) {
      return fail(ErrorCode::Closed, "the server ended: " + said);
    }
    said.append(part.data(), static_cast<std::size_t>(got));
  }
  const auto at = said.find(kMark);
  const char* const end = said.data() + said.size();
  if (at == std::string::npos ||
      std::from_chars(said.data() + at + kMark.size(), end, port_).ec != std::errc()) {
    return fail(ErrorCode::Internal, "the server named no address: " + said);
  }
  return {};
}

Result<> HttpPeer::connect_one() {
  os::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return failed("connect");
  }
  const int one = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  connections_.push_back(std::move(fd));
  return {};
}

Result<> HttpPeer::call_on(std::size_t connections) {
  static const std::string request = request_text("tools/call", "Mcp-Name: bash\r\n",
                                                  R"("name":"bash","arguments":{"command":":"},)");
  return send_on(connections, request);
}

Result<> HttpPeer::ping() {
  static const std::string request = request_text("server/discover", "", "");
  return send_on(1, request);
}

Result<> HttpPeer::send_on(std::size_t connections, const std::string& request) {
  while (connections_.size() < connections) {
    BAWN_TRY(connect_one());
  }
  for (std::size_t i = 0; i < connections; ++i) {
    if (::send(connections_[i].get(), request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      return failed("send");
    }
  }
  for (std::size_t i = 0; i < connections; ++i) {
    BAWN_TRY(read_reply(connections_[i].get()));
  }
  return {};
}

Result<> HttpPeer::read_reply(int fd) {
  constexpr std::string_view kLength = "Content-Length: ";
  std::array<char, 8192> part{};
  std::string reply;
  while (true) {
    const ssize_t got = ::recv(fd, part.data(), part.size(), 0);
    if (got <= 0) {
      return fail(ErrorCode::Closed, "the server closed the connection");
    }
    reply.append(part.data(), static_cast<std::size_t>(got));
    const auto head = reply.find("\r\n\r\n");
    if (head == std::string::npos) {
      continue;
    }
    const auto at = reply.find(kLength);
    std::size_t length = 0;
    if (!reply.starts_with("HTTP/1.1 200") || at == std::string::npos ||
        std::from_chars(reply.data() + at + kLength.size(), reply.data() + reply.size(), length)
                .ec != std::errc()) {
      return fail(ErrorCode::Internal, "not the expected answer: " + reply);
    }
    if (reply.size() >= head + 4 + length) {
      return {};
    }
  }
}

}  // namespace bawn::bench
