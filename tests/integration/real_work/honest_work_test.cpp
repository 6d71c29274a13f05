// Work that walls often break, as tests: each was a complaint about some sandbox.
#include "bawn/os/unique_fd.hpp"
#include "inside.hpp"
#include "support/requirements.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace bawn::test {
namespace {

using testing::HasSubstr;

std::string all_of(const ProgramResult& result) {
  return "exit " + std::to_string(result.exit_code) + "\n" + result.out + result.err;
}

class HonestWork : public testing::TestWithParam<Starter> {
 protected:
  void SetUp() override {
    if (const std::string missing = inside_.missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
  }
  /// Empty when the tool says its version inside: it may be another user's, or not there at all.
  std::string missing_inside(const std::string& ask) {
    const auto result = inside_.run(ask);
    return result.exit_code == 0 ? "" : ask + " fails for this user: " + result.err;
  }

  Inside inside_{GetParam()};
};

#define SKIP_WITHOUT(ask)                                        \
  if (const std::string why = missing_inside(ask); !why.empty()) \
  GTEST_SKIP() << why

TEST_P(HonestWork, FilesMoveBetweenDirectoriesAndGetSecondNames) {
  const auto result = inside_.run(
      "mkdir -p a/b && echo x > file && mv file a/b/ && ln a/b/file a/second && mv a c && "
      "mkdir -p /tmp/t && echo y > /tmp/t/f && mv /tmp/t/f /tmp/g && cat c/second /tmp/g");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "x\ny\n");
}

TEST_P(HonestWork, GitWorktreesAndSubmodulesBelowTheWorkspace) {
  BAWN_REQUIRE("git");
  const auto result = inside_.run(R"sh(
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git init -q -b main library
    echo one > library/file && git -C library add file && git -C library commit -qm first
    git init -q -b main project && cd project
    git -c protocol.file.allow=always submodule add -q "$PWD/../library" part
    git commit -qm 'with a part'
    git worktree add -q ../second -b topic
    cd ../second && echo two > new && git add new && git commit -qm 'in the second'
    git -c protocol.file.allow=always submodule update -q --init
    cat part/file && git log --format=%s && git worktree list | wc -l
  )sh");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "one\nin the second\nwith a part\n2\n");
}

TEST_P(HonestWork, PythonSharesMemoryBetweenProcesses) {
  BAWN_REQUIRE("python3");
  inside_.write("work.py", R"py(
from multiprocessing import Process, Queue, shared_memory, get_context

def write(name):
    other = shared_memory.SharedMemory(name=name)
    other.buf[0] = 42
    other.close()

if __name__ == "__main__":
    block = shared_memory.SharedMemory(create=True, size=4096)
    child = get_context("forkserver").Process(target=write, args=(block.name,))
    child.start()
    child.join(60)
    print(block.buf[0])
    block.close()
    block.unlink()
)py");
  const auto result = inside_.run("/usr/bin/python3 work.py; ls /dev/shm | wc -l");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "42\n0\n");
}

TEST_P(HonestWork, ServersOnLoopbackAndOnUnixSocketsAreReached) {
  BAWN_REQUIRE("python3");
  inside_.write("work.py", R"py(
import asyncio, http.server, os, socket, threading, urllib.request

async def echo(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()

async def ask(opened):
    reader, writer = await opened
    writer.write(b"hello\n")
    return (await reader.readline()).decode().strip()

async def main():
    tcp = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = tcp.sockets[0].getsockname()[1]
    print("tcp", await ask(asyncio.open_connection("127.0.0.1", port)))
    six = await asyncio.start_server(echo, "::1", 0)
    print("tcp6", await ask(asyncio.open_connection("::1", six.sockets[0].getsockname()[1])))
    for name in ("here.sock", "/tmp/there.sock", "\0abstract"):
        await asyncio.start_unix_server(echo, name)
        print("unix", await ask(asyncio.open_unix_connection(name)))

asyncio.run(main())
server = http.server.HTTPServer(("localhost", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.handle_request).start()
url = f"http://localhost:{server.server_port}/work.py"
print("http", urllib.request.urlopen(url).status)
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.send(b"x")
print("pair", b.recv(1))
)py");
  const auto result = inside_.run("/usr/bin/python3 work.py 2>/dev/null");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out,
            "tcp hello\ntcp6 hello\nunix hello\nunix hello\nunix hello\nhttp 200\npair b'x'\n");
}

/// The socket of that user's bus, listening for as long as this lives.
class MessageBus {
 public:
  explicit MessageBus(unsigned uid)
      : directory_(fmt::format("/run/user/{}", uid)), path_(directory_ + "/bus") {
    std::error_code failed;
    made_ = std::filesystem::create_directories(directory_, failed);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    listening_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    up_ = made_ && ::chown(directory_.c_str(), uid, uid) == 0 &&
          ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
          ::chown(path_.c_str(), uid, uid) == 0 && ::listen(listening_.get(), 8) == 0;
  }
  ~MessageBus() {
    if (made_) {
      std::filesystem::remove_all(directory_);
    }
  }
  MessageBus(const MessageBus&) = delete;
  MessageBus& operator=(const MessageBus&) = delete;
  [[nodiscard]] bool up() const { return up_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string directory_;
  std::string path_;
  os::UniqueFd listening_;
  bool made_ = false;
  bool up_ = false;
};

// A program that finds no keyring says that the login is invalid; the cause stands in the report.
TEST_P(HonestWork, AMessageBusThatIsOutOfReachIsNamed) {
  constexpr unsigned kSomeUser = 12345;
  if (GetParam() != Starter::OrdinaryUser || ::geteuid() != 0) {
    GTEST_SKIP() << "needs root, to make another user's bus";
  }
  const MessageBus bus(kSomeUser);
  if (!bus.up()) {
    GTEST_SKIP() << bus.path() << " cannot be made here";
  }
  const std::string ask = fmt::format(
      "import socket; socket.socket(socket.AF_UNIX).connect('{}'); print('reached')", bus.path());
  EXPECT_EQ(
      run_program({.argv = {"/usr/bin/python3", "-c", ask}, .directory = "/", .uid = kSomeUser})
          .out,
      "reached\n")
      << "the control";
  const ProgramResult result = inside_.run("/usr/bin/python3 -c \"" + ask + "\"");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(inside_.report(), HasSubstr("D-Bus socket " + bus.path()));
}

TEST_P(HonestWork, GdbStopsAProgramAndReadsIt) {
  BAWN_REQUIRE("gdb");
  BAWN_REQUIRE("gcc");
  inside_.write("program.c", "int answer = 42;\nint main(void) { return answer - 42; }\n");
  const auto result = inside_.run(
      "gcc -g -o program program.c && gdb -q -batch -ex 'break main' -ex run -ex 'print answer' "
      "-ex kill ./program");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_THAT(result.out, HasSubstr("$1 = 42"));
}

TEST_P(HonestWork, WhatEveryProgramOpensIsThere) {
  const auto result = inside_.run(R"sh(
    echo x > /dev/null && head -c 4 /dev/zero | wc -c && head -c 4 /dev/urandom | wc -c
    ls -d /dev/tty /dev/ptmx /dev/pts /dev/fd /dev/stdin /dev/shm /proc/self/fd /proc/cpuinfo
    cat <(echo substituted) && (echo x > /dev/full) 2>/dev/null || echo full
    script -qec 'echo on a terminal' /dev/null && date +%Z >/dev/null && id -u >/dev/null
    getent passwd root | cut -d: -f1
  )sh");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out,
            "4\n4\n/dev/fd\n/dev/ptmx\n/dev/pts\n/dev/shm\n/dev/stdin\n/dev/tty\n/proc/cpuinfo\n"
            "/proc/self/fd\nsubstituted\nfull\non a terminal\r\nroot\n")
      << all_of(result);
}

TEST_P(HonestWork, CargoBuildsACrate) {
  SKIP_WITHOUT("cargo --version");
  inside_.write("Cargo.toml", "[package]\nname = \"inside\"\nversion = \"0.1.0\"\n");
  inside_.write("src/main.rs", "fn main() { println!(\"built\"); }\n");
  const auto result = inside_.run("cargo --offline -q run");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "built\n");
}

TEST_P(HonestWork, NpmInstallsAPackageWithItsCache) {
  SKIP_WITHOUT("npm --version");
  inside_.write("dep/package.json", R"({"name": "dep", "version": "1.0.0", "main": "i.js"})");
  inside_.write("dep/i.js", "module.exports = 'from the package';\n");
  inside_.write("package.json", R"({"name": "inside", "version": "1.0.0"})");
  const auto result = inside_.run(
      "npm pack --silent ./dep && npm install --offline --no-audit --no-fund --silent "
      "./dep-1.0.0.tgz && node -p \"require('dep')\"");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_THAT(result.out, HasSubstr("from the package"));
}

TEST_P(HonestWork, PipInstallsAPackageWithItsCache) {
  BAWN_REQUIRE("python3");
  inside_.write(
      "dep/setup.py",
      "from setuptools import setup\nsetup(name='dep', version='1', py_modules=['dep'])\n");
  inside_.write("dep/dep.py", "word = 'from the package'\n");
  const auto result = inside_.run(
      "/usr/bin/python3 -m venv venv && venv/bin/pip install -q --no-index --no-build-isolation "
      "./dep && venv/bin/python -c 'import dep; print(dep.word)'");
  if (result.err.find("setuptools") != std::string::npos) {
    GTEST_SKIP() << "this Python's venv brings no setuptools: " << result.err;
  }
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "from the package\n");
}

TEST_P(HonestWork, GoBuildsAProgramWithItsCache) {
  SKIP_WITHOUT("go version");
  inside_.write("go.mod", "module inside\n\ngo 1.19\n");
  inside_.write("main.go", "package main\n\nfunc main() { println(\"built\") }\n");
  const auto result = inside_.run("GOFLAGS=-mod=mod GOPROXY=off go run . 2>&1");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "built\n");
}

TEST_P(HonestWork, ChromiumShowsAPage) {
  SKIP_WITHOUT("chromium --version");
  inside_.write("page.html", "<p>shown</p>");
  const auto result = inside_.run(
      "chromium --headless --no-sandbox --disable-gpu --user-data-dir=/tmp/profile --dump-dom "
      "file://$PWD/page.html");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_THAT(result.out, HasSubstr("shown"));
}

INSTANTIATE_TEST_SUITE_P(By, HonestWork, testing::Values(Starter::Caller, Starter::OrdinaryUser),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace bawn::test
