#include "arena.hpp"

#include "support/run_program.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace bawn::test {
namespace {

int listen_on(int family, const sockaddr* address, socklen_t length) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::bind(fd, address, length) != 0 || ::listen(fd, 16) != 0) {
    throw std::runtime_error("the arena cannot listen");
  }
  return fd;
}

int listen_on_loopback(int& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = listen_on(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  socklen_t length = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  port = ntohs(address.sin_port);
  return fd;
}

/// A name that begins with NUL is abstract.
int listen_on_unix(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::min(name.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, name.data(), size);
  return listen_on(AF_UNIX, reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size));
}

/// A process of that user that only waits.
int start_victim(unsigned uid) {
  const std::string id = std::to_string(uid);
  std::vector<std::string> words = {"sleep", "600"};
  if (uid != ::geteuid()) {
    words.insert(words.begin(), {"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--"});
  }
  std::vector<char*> argv;
  for (auto& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    throw std::runtime_error("the arena cannot start its victim");
  }
  return pid;
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

}  // namespace

Arena::Arena(unsigned uid) : root_(visible_base()) {
  const std::string root = root_.path().string();
  root_.write("out/file", "outside\n");
  root_.write("home/.ssh/id_rsa", "secret\n");
  root_.write("home/.aws/credentials", "secret\n");
  root_.write("ws/.envrc", "# nothing\n");
  const auto made = run_program({.argv = {"git", "init", "-q", workspace()}});
  const auto owned = run_program({.argv = {"chown", "-R", fmt::format("{}:{}", uid, uid), root}});
  if (made.exit_code != 0 || (::geteuid() == 0 && owned.exit_code != 0)) {
    throw std::runtime_error("the arena cannot be built: " + made.err + owned.err);
  }
  tcp_ = listen_on_loopback(port_);
  unix_path_ = listen_on_unix(root + "/out/socket");
  ::chown((root + "/out/socket").c_str(), uid, uid);
  unix_abstract_ = listen_on_unix(std::string(1, '\0') + "bawn-escape-" + std::to_string(port_));
  victim_ = start_victim(uid);
}

Arena::~Arena() {
  ::kill(victim_, SIGKILL);
  ::waitpid(victim_, nullptr, 0);
  for (const int fd : {tcp_, unix_path_, unix_abstract_}) {
    ::close(fd);
  }
}

std::string Arena::prelude() const {
  return fmt::format(
      R"(import ctypes, errno, os, socket, sys
OUT, WS, HOME, SOCKET = {0}/out', {0}/ws', {0}/home', {0}/out/socket'
VICTIM, PORT = {1}, {2}
libc = ctypes.CDLL(None, use_errno=True)
def raise_errno():
    raise OSError(ctypes.get_errno(), 'denied')
def call(*args):
    result = libc.syscall(*args)
    if result < 0:
        raise_errno()
    return result
)",
      "'" + root_.path().string(), victim_, port_);
}

}  // namespace bawn::test
