#include "arena.hpp"

#include "support/run_program.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace bawn::test {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("the arena cannot " + what + ": " + std::strerror(errno));
}

os::UniqueFd bound(int family, int type, const sockaddr* address, socklen_t length) {
  os::UniqueFd fd(::socket(family, type | SOCK_CLOEXEC, 0));
  if (!fd.is_open() || ::bind(fd.get(), address, length) != 0 ||
      (type == SOCK_STREAM && ::listen(fd.get(), 16) != 0)) {
    fail("listen");
  }
  return fd;
}

os::UniqueFd bound_on_loopback(int type, int& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  os::UniqueFd fd =
      bound(AF_INET, type, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  socklen_t length = sizeof address;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length);
  port = ntohs(address.sin_port);
  return fd;
}

/// Without IPv6 the port stays 0 and the attack's control says so.
os::UniqueFd bound_on_loopback6(int& port) {
  os::UniqueFd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  socklen_t length = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (fd.is_open() && ::bind(fd.get(), plain, length) == 0 && ::listen(fd.get(), 16) == 0) {
    ::getsockname(fd.get(), plain, &length);
    port = ntohs(address.sin6_port);
  }
  return fd;
}

/// A name that begins with NUL is abstract.
os::UniqueFd bound_unix(const std::string& name, int type) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::min(name.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, name.data(), size);
  return bound(AF_UNIX, type, reinterpret_cast<const sockaddr*>(&address),
               static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size));
}

/// Neither /tmp nor /run, which the wall hides: a hidden target proves less than a denied one. And
/// for root a place that every user can reach, wherever these tests were built.
std::filesystem::path visible_base() {
  if (::geteuid() == 0) {
    return "/var/lib";
  }
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): tests set it never
  return home != nullptr ? home : "/var/lib";
}

std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr const char* kSecrets[] = {".ssh/id_rsa",
                                    ".aws/credentials",
                                    ".config/gcloud/credentials.db",
                                    ".config/gh/hosts.yml",
                                    ".kube/config",
                                    ".docker/config.json",
                                    ".npmrc",
                                    ".pypirc",
                                    ".netrc",
                                    ".cargo/credentials.toml",
                                    ".gnupg/private.key",
                                    ".git-credentials",
                                    ".bash_history",
                                    ".mozilla/profile/cookies"};
constexpr const char* kProtected[] = {".envrc",
                                      ".bashrc",
                                      ".vscode/tasks.json",
                                      ".mcp.json",
                                      ".claude/settings.json",
                                      ".codex/config.toml"};

}  // namespace

Arena::Arena(unsigned uid) : root_(visible_base()) {
  const std::string root = root_.path().string();
  root_.write("out/file", "outside\n");
  root_.write("out/dir/inner", "outside\n");
  root_.write("home/.profile", "# nothing\n");
  for (const char* name : kSecrets) {
    root_.write(std::string("home/") + name, "secret\n");
  }
  for (const char* name : kProtected) {
    root_.write(std::string("ws/") + name, "{}\n");
  }
  const auto made = run_program({.argv = {"git", "init", "-q", workspace()}});
  std::filesystem::copy("/usr/bin/id", root_.path() / "out/id-of-another");
  // A build folder below /tmp is not visible inside.
  std::filesystem::copy(BAWN_SECOND_ABI, root_.path() / "ws/second_abi");
  tcp_ = bound_on_loopback(SOCK_STREAM, port_);
  udp_ = bound_on_loopback(SOCK_DGRAM, udp_port_);
  tcp6_ = bound_on_loopback6(port6_);
  unix_path_ = bound_unix(root + "/out/socket", SOCK_STREAM);
  unix_datagram_ = bound_unix(root + "/out/log", SOCK_DGRAM);
  unix_abstract_ = bound_unix(std::string(1, '\0') + token(), SOCK_STREAM);
  const auto owned = run_program({.argv = {"chown", "-R", fmt::format("{}:{}", uid, uid), root}});
  if (made.exit_code != 0 || (::geteuid() == 0 && owned.exit_code != 0)) {
    throw std::runtime_error("the arena cannot be built: " + made.err + owned.err);
  }
  if (::geteuid() == 0) {
    const std::string id = root + "/out/id-of-another";
    if (::chown(id.c_str(), 23456, 23456) != 0 || ::chmod(id.c_str(), 04755) != 0) {
      fail("make a setuid program");
    }
  }
  make_ipc(uid);
  start_process(uid);
}

Arena::~Arena() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  ::shmctl(shm_, IPC_RMID, nullptr);
  if (queue_ >= 0) {
    ::mq_close(queue_);
    ::mq_unlink(("/" + token()).c_str());
  }
}

void Arena::make_ipc(unsigned uid) {
  shm_ = ::shmget(port_, 4096, IPC_CREAT | 0666);
  queue_ = ::mq_open(("/" + token()).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666, nullptr);
  if (queue_ >= 0) {
    ::fchmod(queue_, 0666);  // past the umask
  }
  // A session keyring of this test's own, which what it starts inherits. Where a container refuses,
  // the attack's control says so.
  constexpr long kJoin = 1;
  constexpr long kSession = -3;
  (void)::syscall(SYS_keyctl, kJoin, nullptr);
  (void)::syscall(SYS_add_key, "user", token().c_str(), "secret", 6, kSession);
  int ends[2];
  std::array<char, 64> name{};
  if (::openpty(&ends[0], &ends[1], name.data(), nullptr, nullptr) != 0) {
    fail("open a terminal");
  }
  terminal_.reset(ends[0]);
  terminal_end_.reset(ends[1]);
  ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  terminal_name_ = name.data();
  (void)::chown(name.data(), uid, uid);
}

void Arena::start_process(unsigned uid) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    fail("make a pipe");
  }
  process_output_.reset(ends[0]);
  const os::UniqueFd output(ends[1]);
  std::vector<std::string> words = {BAWN_HOST_PROCESS, std::to_string(uid),
                                    home() + "/.ssh/id_rsa"};
  std::vector<char*> argv;
  for (auto& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output.get(), 1);
  const int failed = ::posix_spawn(&process_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  std::array<char, 32> line{};
  const ssize_t size = failed == 0 ? ::read(process_output_.get(), line.data(), line.size()) : -1;
  if (size <= 1) {
    throw std::runtime_error("the arena cannot start its process");
  }
  address_.assign(line.data(), static_cast<std::size_t>(size) - 1);
}

std::string Arena::prelude() const {
  return fmt::format(
             R"(OUT, WS, HOME, TOKEN = {0}/out', {0}/ws', {0}/home', '{1}'
SOCKET, DATAGRAMS = OUT + '/socket', OUT + '/log'
VICTIM, ADDRESS, PORT, PORT6, UDP_PORT = {2}, {3}, {4}, {5}, {6}
TERMINAL, SECOND_ABI = '{7}', WS + '/second_abi'
)",
             "'" + root_.path().string(), token(), process_, address_, port_, port6_, udp_port_,
             terminal_name_) +
         read_all(BAWN_ESCAPE_PRELUDE);
}

std::string Arena::state() const {
  std::string text;
  for (const char* part : {"out", "home"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_.path() / part)) {
      struct stat found{};
      if (::lstat(entry.path().c_str(), &found) != 0) {
        fail("look at its own files");
      }
      text +=
          fmt::format("{} mode {:o} owner {}:{} links {} changed {}.{:09} {}\n",
                      entry.path().string(), found.st_mode, found.st_uid, found.st_gid,
                      found.st_nlink, found.st_mtim.tv_sec, found.st_mtim.tv_nsec,
                      S_ISREG(found.st_mode) && found.st_size < 100 ? read_all(entry.path()) : "");
      std::array<char, 256> names{};
      const ssize_t size = ::llistxattr(entry.path().c_str(), names.data(), names.size());
      text.append(names.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    }
  }
  return text;
}

bool Arena::was_sent_to() const {
  std::array<char, 64> data{};
  return ::recv(udp_.get(), data.data(), data.size(), MSG_DONTWAIT) >= 0 ||
         ::recv(unix_datagram_.get(), data.data(), data.size(), MSG_DONTWAIT) >= 0;
}

bool Arena::was_signalled() const {
  // Of two pending signals the lower number is delivered first, so the answer to ours comes last.
  ::kill(process_, SIGUSR2);
  for (char letter = 0; ::read(process_output_.get(), &letter, 1) == 1;) {
    if (letter == '1') {
      return true;
    }
    if (letter == '2') {
      return false;
    }
  }
  throw std::runtime_error("the arena's process is gone");
}

bool Arena::take(const std::string& path) {
  return ::unlink(path.c_str()) == 0;
}

}  // namespace bawn::test
