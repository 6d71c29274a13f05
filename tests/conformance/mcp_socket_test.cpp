/// \file
/// The framing of stdio at a unix socket, for any number of clients.
#include "server_process.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

namespace bawn::test {
namespace {

class PathClient final : public LineClient {
 public:
  explicit PathClient(const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    fd_ = fd;
    attach(fd, ::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  }
  /// The end of what this client sends; answers still come.
  void end_input() const { ::shutdown(fd_, SHUT_WR); }

 private:
  int fd_ = -1;
};

std::string request(int id, const std::string& tool) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":")" + tool + R"("}})";
}

void wait_until_ready(ServerProcess& server) {
  for (std::string said; said.find("ready\n") == std::string::npos; said += server.errors()) {
    pollfd entry{.fd = server.error_fd(), .events = POLLIN, .revents = 0};
    constexpr int kPatienceMs = 60'000;
    if (::poll(&entry, 1, kPatienceMs) != 1 || (entry.revents & POLLIN) == 0) {
      ADD_FAILURE() << "the server said " << said;
      break;
    }
  }
}

class SocketTest : public ::testing::Test {
 protected:
  SocketTest() { wait_until_ready(server_); }
  const TempDir folder_;
  const std::string path_ = folder_.path() / "socket";
  ServerProcess server_{{BAWN_FIXTURE_SERVER, "--listen", path_}};
};

TEST_F(SocketTest, ServesClientsBesideEachOther) {
  struct stat made{};
  ASSERT_EQ(::lstat(path_.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777U, 0600U);
  PathClient first(path_);
  PathClient second(path_);
  first.send(request(1, "hang"));
  EXPECT_EQ(second.call(request(1, "echo"))["result"]["content"][0]["text"], "{}")
      << "the ids of one client are no business of another";
  EXPECT_EQ(first.call(request(2, "echo"))["id"], 2);
  second.end_input();
  EXPECT_TRUE(second.output_ends());
  EXPECT_EQ(first.call(request(3, "echo"))["id"], 3) << "one that goes leaves the others alone";
}

TEST_F(SocketTest, ASignalEndsAllClientsInOrderAndTakesThePathAway) {
  PathClient first(path_);
  PathClient second(path_);
  first.send(request(1, "hang"));
  EXPECT_EQ(first.call(request(2, "echo"))["id"], 2);
  EXPECT_EQ(second.call(request(1, "echo"))["id"], 1);
  server_.signal(SIGTERM);
  EXPECT_EQ(first.receive()["result"]["content"][0]["text"], "interrupted");
  EXPECT_TRUE(first.output_ends());
  EXPECT_TRUE(second.output_ends());
  const auto status = server_.wait();
  EXPECT_TRUE(status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST(SocketServer, ASecondSignalCutsTheGraceOfAllClientsShort) {
  const TempDir folder;
  const std::string path = folder.path() / "socket";
  ServerProcess server({BAWN_FIXTURE_SERVER, "--listen", path, "--grace-minutes", "30"});
  wait_until_ready(server);
  const std::string listen =
      R"({"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{},)"
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
  PathClient first(path);
  PathClient second(path);
  for (PathClient* client : {&first, &second}) {
    client->send(request(1, "hang"));
    client->send(listen);
    EXPECT_EQ(client->receive()["method"], "notifications/subscriptions/acknowledged");
  }
  server.signal(SIGTERM);
  for (PathClient* client : {&first, &second}) {
    EXPECT_EQ(client->receive()["id"], "L") << "the first signal ends subscriptions at once";
    EXPECT_EQ(client->receive()["method"], "notifications/cancelled");
  }
  server.signal(SIGTERM);
  for (PathClient* client : {&first, &second}) {
    EXPECT_EQ(client->receive()["result"]["content"][0]["text"], "interrupted");
  }
  const auto status = server.wait();
  EXPECT_TRUE(status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0)
      << "long before the half hour is over";
}

TEST_F(SocketTest, AThousandClientsComeAndGo) {
  const auto descriptors = [&] {
    const std::filesystem::path fds = "/proc/" + std::to_string(server_.pid()) + "/fd";
    return std::distance(std::filesystem::directory_iterator(fds), {});
  };
  const auto serve_one = [&] {
    PathClient client(path_);
    EXPECT_EQ(client.call(request(1, "echo"))["id"], 1);
    client.end_input();
    EXPECT_TRUE(client.output_ends());
  };
  constexpr int kClients = 1000;
  for (int i = 0; i < kClients; ++i) {
    serve_one();
  }
  // The last ones' threads may still be ending.
  constexpr auto kMost = 40;
  EXPECT_LT(descriptors(), kMost);
}

}  // namespace
}  // namespace bawn::test
