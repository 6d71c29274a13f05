#include "server_process.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace bawn::test {
namespace {

bool readable_within(int fd, std::chrono::milliseconds wait) {
  pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, static_cast<int>(wait.count())) == 1;
}

void close_one(int& fd) {
  if (fd >= 0) {
    ::close(std::exchange(fd, -1));
  }
}

}  // namespace

ServerProcess::ServerProcess(std::vector<std::string> argv) {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);

  std::array<std::array<int, 2>, 3> pipes{};
  for (auto& ends : pipes) {
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0);
  posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2);
  std::vector<char*> words;
  for (std::string& word : argv) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  EXPECT_EQ(::posix_spawn(&pid_, words[0], &actions, nullptr, words.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  close_one(pipes[0][0]);
  close_one(pipes[1][1]);
  close_one(pipes[2][1]);
  in_ = pipes[0][1];
  out_ = pipes[1][0];
  err_ = pipes[2][0];
  ::fcntl(err_, F_SETFL, O_NONBLOCK);
}

ServerProcess::~ServerProcess() {
  if (!status_) {
    signal(SIGKILL);
    wait(std::chrono::milliseconds(10'000));
  }
  for (int* const fd : {&in_, &out_, &err_, &pidfd_}) {
    close_one(*fd);
  }
}

void ServerProcess::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(in_, bytes.data(), bytes.size());
    if (written < 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::optional<std::string> ServerProcess::receive(std::chrono::milliseconds wait) {
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (true) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() < 0 || !readable_within(out_, left)) {
      return std::nullopt;
    }
    std::array<char, 65536> chunk{};
    const ssize_t got = ::read(out_, chunk.data(), chunk.size());
    if (got <= 0) {
      return std::nullopt;
    }
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

contract::Json ServerProcess::receive_json() {
  const auto line = receive();
  if (!line) {
    ADD_FAILURE() << "no line came; errors: " << errors();
    return nullptr;
  }
  auto message = contract::parse_json(*line);
  if (!message) {
    ADD_FAILURE() << "not JSON: " << *line;
    return nullptr;
  }
  return *std::move(message);
}

contract::Json ServerProcess::call(std::string_view request) {
  const contract::Json id = contract::parse_json(request).value()["id"];
  send(request);
  while (true) {
    contract::Json message = receive_json();
    if (message.is_null() || (message.contains("id") && message["id"] == id)) {
      return message;
    }
  }
}

void ServerProcess::close_input() {
  close_one(in_);
}
void ServerProcess::close_output() {
  close_one(out_);
}

void ServerProcess::signal(int number) const {
  ::syscall(SYS_pidfd_send_signal, pidfd_, number, nullptr, 0);
}

bool ServerProcess::output_ends_within(std::chrono::milliseconds wait) {
  const auto deadline = std::chrono::steady_clock::now() + wait;
  std::array<char, 4096> rest{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() < 0 || !readable_within(out_, left)) {
      return false;
    }
    if (::read(out_, rest.data(), rest.size()) == 0) {
      return true;
    }
  }
}

std::optional<int> ServerProcess::wait(std::chrono::milliseconds wait) {
  if (!status_ && readable_within(pidfd_, wait)) {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    status_ = status;
  }
  return status_;
}

std::string ServerProcess::errors() {
  std::string all;
  std::array<char, 4096> chunk{};
  ssize_t got = 0;
  while ((got = ::read(err_, chunk.data(), chunk.size())) > 0) {
    all.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return all;
}

}  // namespace bawn::test
