#include "support/peer_process.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bawn::test {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

constexpr int kAnswerMs = 30'000;
constexpr int kGoodbyeMs = 5'000;

struct Pipe {
  os::UniqueFd read;
  os::UniqueFd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return std::unexpected(Error::from_errno(errno, "pipe2", "cannot make a pipe"));
  }
  return Pipe{os::UniqueFd(ends[0]), os::UniqueFd(ends[1])};
}

/// posix_spawn's signature; it writes nothing.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) {
    list.push_back(const_cast<char*>(word.c_str()));
  }
  return list;
}

}  // namespace

Result<PeerProcess> PeerProcess::start(const std::vector<std::string>& argv,
                                       const std::vector<std::string>& added) {
  Pipe input = BAWN_TRY(make_pipe());
  Pipe output = BAWN_TRY(make_pipe());
  std::vector<char*> words = pointers(argv);
  words.push_back(nullptr);
  std::vector<char*> environment = pointers(added);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.push_back(*variable);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.read.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.write.get(), 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  PeerProcess process;
  const int failed =
      ::posix_spawn(&process.pid_, words[0], &actions, nullptr, words.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    process.pid_ = -1;
    return std::unexpected(Error::from_errno(failed, "posix_spawn", "cannot start " + argv[0]));
  }
  process.input_ = std::move(input.write);
  process.output_ = std::move(output.read);
  return process;
}

PeerProcess::PeerProcess(PeerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      buffer_(std::move(other.buffer_)),
      taken_(other.taken_) {}

PeerProcess::~PeerProcess() {
  if (pid_ < 0) {
    return;
  }
  input_.reset();
  // By number: sys/pidfd.h of glibc 2.36 declares pidfd_open without C linkage.
  const os::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd end{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  if (!pidfd.is_open() || ::poll(&end, 1, kGoodbyeMs) != 1) {
    ::kill(pid_, SIGKILL);  // our own unreaped child: the number cannot have been given away
  }
  ::waitpid(pid_, nullptr, 0);
}

Result<> PeerProcess::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(input_.get(), text.data(), text.size());
    if (written < 0) {
      return std::unexpected(Error::from_errno(errno, "write", "cannot write to the program"));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string_view> PeerProcess::read_line() {
  buffer_.erase(0, taken_);
  taken_ = 0;
  std::size_t searched = 0;
  for (;;) {
    if (const std::size_t end = buffer_.find('\n', searched); end != std::string::npos) {
      taken_ = end + 1;
      return std::string_view(buffer_).substr(0, end);
    }
    searched = buffer_.size();
    pollfd ready{.fd = output_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kAnswerMs) == 0) {
      return fail(ErrorCode::DeadlineExceeded, "the program did not answer within 30 s");
    }
    char piece[1 << 16];
    const ssize_t got = ::read(output_.get(), piece, sizeof piece);
    if (got <= 0) {
      return fail(ErrorCode::Closed, "the program closed its output");
    }
    buffer_.append(piece, static_cast<std::size_t>(got));
  }
}

Result<McpPeer> McpPeer::connect(const std::vector<std::string>& argv,
                                 const std::vector<std::string>& added) {
  McpPeer peer(BAWN_TRY(PeerProcess::start(argv, added)));
  BAWN_TRY(peer.request("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                                      R"("clientInfo":{"name":"bawn-tests","version":"1"}})"));
  BAWN_TRY(peer.process_.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"));
  return peer;
}

Result<std::string_view> McpPeer::request(std::string_view method, std::string_view params) {
  const int id = ++last_id_;
  BAWN_TRY(process_.write(fmt::format(
      "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"{}\",\"params\":{}}}\n", id, method, params)));
  const std::string tag = fmt::format("\"id\":{},", id);
  for (;;) {
    const std::string_view line = BAWN_TRY(process_.read_line());
    if (line.find(tag) == std::string_view::npos) {
      continue;  // a notification
    }
    if (line.find("\"result\":") == std::string_view::npos ||
        line.find("\"isError\":true") != std::string_view::npos) {
      return fail(ErrorCode::ToolFailed, fmt::format("{}: {}", method, line.substr(0, 400)));
    }
    return line;
  }
}

Result<std::string_view> McpPeer::call_tool(std::string_view name, std::string_view arguments) {
  return request("tools/call", fmt::format(R"({{"name":"{}","arguments":{}}})", name, arguments));
}

}  // namespace bawn::test
