#include "local_socket.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace bawn::mcp::test {
namespace {

using contract::Result;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// 0, or the error of connecting.
int connect_to(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
             ? 0
             : errno;
}

/// What a killed server leaves.
void leave_dead_socket(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

class LocalSocketTest : public ::testing::Test {
 protected:
  const bawn::test::TempDir folder_;
  const std::string path_ = folder_.path() / "socket";
};

TEST_F(LocalSocketTest, ReplacesADeadOneAndTakesItsOwnAway) {
  leave_dead_socket(path_);
  EXPECT_EQ(connect_to(path_), ECONNREFUSED);
  {
    const auto socket = LocalSocket::listen(path_);
    ASSERT_TRUE(socket) << socket.error().message();
    EXPECT_EQ(connect_to(path_), 0);
    EXPECT_EQ(LocalSocket::listen(path_).error().errnum(), EADDRINUSE);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(LocalSocketTest, LeavesAnotherFileAlone) {
  std::ofstream(path_) << "mine";
  EXPECT_EQ(LocalSocket::listen(path_).error().errnum(), EADDRINUSE);
  EXPECT_EQ(std::filesystem::file_size(path_), 4U);
}

// One that is bound and does not listen yet looks like a dead one, and must not be removed.
TEST_F(LocalSocketTest, OfTwoThatBeginAtOnceOneCanBeReached) {
  constexpr int kRounds = 500;
  std::array<std::optional<Result<LocalSocket>>, 2> made;
  std::barrier together(3);
  const auto begin = [&](std::size_t which) {
    for (int i = 0; i < kRounds; ++i) {
      together.arrive_and_wait();
      made.at(which).emplace(LocalSocket::listen(path_));
      together.arrive_and_wait();
    }
  };
  std::thread first(begin, 0);
  std::thread second(begin, 1);
  for (int i = 0; i < kRounds; ++i) {
    leave_dead_socket(path_);
    together.arrive_and_wait();
    together.arrive_and_wait();
    EXPECT_NE(made[0]->has_value(), made[1]->has_value()) << "round " << i;
    EXPECT_EQ(connect_to(path_), 0) << "round " << i;
    made[0].reset();
    made[1].reset();
  }
  first.join();
  second.join();
}

TEST_F(LocalSocketTest, ListensInADirectoryThatSomebodyHoldsButReplacesNothingThere) {
  const UniqueFd held(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  {
    const auto socket = LocalSocket::listen(path_);
    ASSERT_TRUE(socket) << socket.error().message();
    EXPECT_EQ(connect_to(path_), 0);
  }
  leave_dead_socket(path_);
  const auto refused = LocalSocket::listen(path_);
  EXPECT_EQ(refused.error().errnum(), EADDRINUSE);
  EXPECT_NE(refused.error().message().find("cannot be locked"), std::string::npos);
  ASSERT_EQ(::flock(held.get(), LOCK_UN), 0);
  EXPECT_TRUE(LocalSocket::listen(path_));
}

TEST_F(LocalSocketTest, ListensInADirectoryThatCannotBeRead) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root reads every directory";
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0300), 0);
  const auto socket = LocalSocket::listen(path_);
  EXPECT_TRUE(socket) << socket.error().message();
  EXPECT_EQ(connect_to(path_), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
}

}  // namespace
}  // namespace bawn::mcp::test
