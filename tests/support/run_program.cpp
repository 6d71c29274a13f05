#include "support/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace bawn::test {
namespace {

struct PipeEnds {
  int read = -1;
  int write = -1;
};

PipeEnds make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  return {ends[0], ends[1]};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (auto& word : words) {
    list.push_back(word.data());
  }
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    all[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  for (const auto& [name, value] : added) {
    all[name] = value;
  }
  std::vector<std::string> list;
  for (const auto& [name, value] : all) {
    list.push_back(name + "=" + value);
  }
  return list;
}

/// setpriv(1) rather than our own setuid: posix_spawn has no hook for it.
std::vector<std::string> as_user(std::vector<std::string> argv, unsigned uid) {
  if (uid != 0 && ::geteuid() == 0) {
    const std::string id = std::to_string(uid);
    std::vector<std::string> prefix = {"setpriv", "--reuid",        id,  "--regid",
                                       id,        "--clear-groups", "--"};
    argv.insert(argv.begin(), prefix.begin(), prefix.end());
  }
  return argv;
}

/// Feeds the input and collects both streams until both are at their end.
void converse(int in, const std::string& input, PipeEnds out, PipeEnds err, ProgramResult& result) {
  ::fcntl(in, F_SETFL, O_NONBLOCK);
  std::size_t sent = 0;
  std::array<pollfd, 3> watched{{{in, POLLOUT, 0}, {out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
  if (input.empty()) {
    ::close(in);
    watched[0].fd = -1;
  }
  std::array<char, 65536> buffer{};
  while (watched[1].fd >= 0 || watched[2].fd >= 0) {
    ::poll(watched.data(), watched.size(), -1);
    if (watched[0].fd >= 0 && watched[0].revents != 0) {
      const ssize_t n = ::write(in, input.data() + sent, input.size() - sent);
      sent += n > 0 ? static_cast<std::size_t>(n) : 0;
      if ((n < 0 && errno != EAGAIN) || sent == input.size()) {
        ::close(in);
        watched[0].fd = -1;
      }
    }
    for (const std::size_t i : {1U, 2U}) {
      if (watched[i].fd < 0 || watched[i].revents == 0) {
        continue;
      }
      const ssize_t n = ::read(watched[i].fd, buffer.data(), buffer.size());
      if (n > 0) {
        (i == 1 ? result.out : result.err).append(buffer.data(), static_cast<std::size_t>(n));
      } else if (n == 0 || errno != EINTR) {
        watched[i].fd = -1;
      }
    }
  }
  if (watched[0].fd >= 0) {
    ::close(in);
  }
}

}  // namespace

ProgramResult run_program(const ProgramRun& run) {
  ::signal(SIGPIPE, SIG_IGN);
  auto argv = as_user(run.argv, run.uid);
  auto env = merged_environment(run.env);
  const PipeEnds in = make_pipe();
  const PipeEnds out = make_pipe();
  const PipeEnds err = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  posix_spawn_file_actions_adddup2(&actions, err.write, 2);
  if (!run.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, run.directory.c_str());
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  ProgramResult result;
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes,
                                  pointers(argv).data(), pointers(env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in.read);
  ::close(out.write);
  ::close(err.write);
  if (failed != 0) {
    ::close(in.write);
    result.exit_code = 127;
    result.err = std::strerror(failed);
  } else {
    converse(in.write, run.input, out, err, result);
    int status = 0;
    ::waitpid(pid, &status, 0);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  ::close(out.read);
  ::close(err.read);
  return result;
}

}  // namespace bawn::test
