#include "line_client.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace bawn::test {
namespace {

using Clock = std::chrono::steady_clock;

void close_one(int& fd) {
  if (fd >= 0) {
    ::close(std::exchange(fd, -1));
  }
}

}  // namespace

LineClient::LineClient() {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
}

LineClient::~LineClient() {
  close_input();
  close_output();
}

LineClient::ServerEnds LineClient::make_pipes() {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  EXPECT_EQ(::pipe2(input.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  to_server_ = input[1];
  from_server_ = output[0];
  return {.in = input[0], .out = output[1]};
}

void LineClient::attach(int to_server, int from_server) {
  to_server_ = to_server;
  from_server_ = from_server;
}

void LineClient::note(std::string_view written) {
  constexpr std::size_t kLongest = 1U << 20U;  // no test sends a valid message that long
  unfinished_ += written;
  std::size_t begin = 0;
  for (auto end = unfinished_.find('\n'); end != std::string::npos;
       end = unfinished_.find('\n', begin)) {
    check_.sent(std::string_view(unfinished_).substr(begin, end - begin));
    begin = end + 1;
  }
  unfinished_.erase(0, begin);
  if (unfinished_.size() > kLongest) {
    unfinished_.clear();
  }
}

void LineClient::write(std::string_view bytes) {
  if (checks_) {
    note(bytes);
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(to_server_, bytes.data(), bytes.size());
    if (written < 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::optional<std::size_t> LineClient::read_some(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  pollfd ready{.fd = from_server_, .events = POLLIN, .revents = 0};
  if (left.count() < 0 || ::poll(&ready, 1, static_cast<int>(left.count())) != 1) {
    return std::nullopt;
  }
  std::array<char, 65536> chunk{};
  const ssize_t got = ::read(from_server_, chunk.data(), chunk.size());
  if (got < 0) {
    return std::nullopt;
  }
  buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  return static_cast<std::size_t>(got);
}

std::optional<std::string> LineClient::receive_line(std::chrono::milliseconds wait) {
  const auto until = Clock::now() + wait;
  std::size_t scanned = 0;
  while (true) {
    if (const auto end = buffer_.find('\n', scanned); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      if (checks_) {
        check_.received(line);
      }
      return line;
    }
    scanned = buffer_.size();
    if (read_some(until).value_or(0) == 0) {
      return std::nullopt;
    }
  }
}

contract::Json LineClient::receive() {
  const auto line = receive_line();
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

contract::Json LineClient::call(std::string_view request) {
  const contract::Json id = contract::parse_json(request).value()["id"];
  send(request);
  while (true) {
    contract::Json message = receive();
    if (message.is_null() || (message.contains("id") && message["id"] == id)) {
      return message;
    }
  }
}

void LineClient::close_input() {
  check_.sent(unfinished_);
  unfinished_.clear();
  close_one(to_server_);
}

void LineClient::close_output() {
  close_one(from_server_);
}

bool LineClient::output_ends() {
  const auto until = Clock::now() + kPatience;
  while (const auto got = read_some(until)) {
    if (*got == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace bawn::test
