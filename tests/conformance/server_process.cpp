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
#include <chrono>
#include <fstream>

namespace bawn::test {

ServerProcess::ServerProcess(std::vector<std::string> argv) {
  const ServerEnds ends = make_pipes();
  std::array<int, 2> errors{};
  EXPECT_EQ(::pipe2(errors.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends.in, 0);
  posix_spawn_file_actions_adddup2(&actions, ends.out, 1);
  posix_spawn_file_actions_adddup2(&actions, errors[1], 2);
  std::vector<char*> words;
  for (std::string& word : argv) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  EXPECT_EQ(::posix_spawn(&pid_, words[0], &actions, nullptr, words.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  for (const int fd : {ends.in, ends.out, errors[1]}) {
    ::close(fd);
  }
  err_ = errors[0];
  ::fcntl(err_, F_SETFL, O_NONBLOCK);
}

ServerProcess::~ServerProcess() {
  if (!status_) {
    signal(SIGKILL);
    wait();
  }
  ::close(err_);
  ::close(pidfd_);
}

void ServerProcess::signal(int number) const {
  ::syscall(SYS_pidfd_send_signal, pidfd_, number, nullptr, 0);
}

std::optional<int> ServerProcess::wait() {
  pollfd ended{.fd = pidfd_, .events = POLLIN, .revents = 0};
  constexpr auto kWait = std::chrono::milliseconds(kPatience);
  if (!status_ && ::poll(&ended, 1, static_cast<int>(kWait.count())) == 1) {
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

long ServerProcess::peak_kib() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  std::string line;
  constexpr std::string_view kPeak = "VmHWM:";
  while (std::getline(status, line)) {
    if (line.starts_with(kPeak)) {
      return std::stol(line.substr(kPeak.size()));
    }
  }
  return 0;
}

}  // namespace bawn::test
