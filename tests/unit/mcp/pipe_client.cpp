#include "pipe_client.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace bawn::mcp::test {

PipeClient::PipeClient(std::vector<contract::ToolPtr> tools, ServerOptions server_options,
                       StdioOptions options) {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);

  auto server = Server::create(std::move(server_options), std::move(tools));
  EXPECT_TRUE(server) << server.error().message();
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  EXPECT_EQ(::pipe2(input.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  to_server_ = input[1];
  from_server_ = output[0];
  options.in_fd = input[0];
  options.out_fd = output[1];
  options.take_standard_streams = false;
  options.handle_signals = false;
  options.watch_parent = false;
  serving_ = std::async(std::launch::async, [server = *std::move(server), options] {
    auto end = serve_stdio(server, options);
    ::close(options.in_fd);
    ::close(options.out_fd);
    return end;
  });
}

PipeClient::~PipeClient() {
  close_input();
  close_output();
}

void PipeClient::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to_server_, bytes.data(), bytes.size());
    if (written < 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::optional<std::string> PipeClient::try_receive(int milliseconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (true) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready{.fd = from_server_, .events = POLLIN, .revents = 0};
    if (left.count() < 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
      return std::nullopt;
    }
    std::array<char, 65536> chunk{};
    const ssize_t got = ::read(from_server_, chunk.data(), chunk.size());
    if (got <= 0) {
      return std::nullopt;
    }
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

contract::Json PipeClient::receive() {
  constexpr int kLongEnough = 60'000;
  const auto line = try_receive(kLongEnough);
  if (!line) {
    ADD_FAILURE() << "no line came";
    return nullptr;
  }
  auto message = contract::parse_json(*line);
  if (!message) {
    ADD_FAILURE() << message.error().message() << ": " << line->substr(0, 200);
    return nullptr;
  }
  return *std::move(message);
}

contract::Json PipeClient::call(std::string_view request) {
  const contract::Json id = contract::parse_json(request).value()["id"];
  send(request);
  while (true) {
    contract::Json message = receive();
    if (message.is_null() || (message.contains("id") && message["id"] == id)) {
      return message;
    }
  }
}

void PipeClient::close_input() {
  if (to_server_ >= 0) {
    ::close(std::exchange(to_server_, -1));
  }
}

void PipeClient::close_output() {
  if (from_server_ >= 0) {
    ::close(std::exchange(from_server_, -1));
  }
}

StdioEnd PipeClient::end() {
  auto end = serving_.get();
  EXPECT_TRUE(end) << end.error().message();
  return end.value_or(StdioEnd{});
}

bool PipeClient::has_ended() {
  return serving_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace bawn::mcp::test
