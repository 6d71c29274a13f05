#include "net/tcp_listeners.hpp"

#include "bawn/os/unique_fd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <string_view>
#include <vector>

namespace bawn::sandbox::net {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(TcpListeners, AreReadFromTheKernelsTable) {
  constexpr std::string_view kTable =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "4711 1 0000000000000000 100 0 0 10 0\n"
      "   1: 0100007F:1F90 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 "
      "4712 1 0000000000000000 100 0 0 10 0\n"
      "   2: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000  1000        0 4713 1 0 100 0 0 10 0\n"
      "   3: cut";
  std::vector<std::uint64_t> inodes;
  read_tcp_listeners(kTable, 8080, inodes);
  EXPECT_THAT(inodes, ElementsAre(4711, 4713));
  inodes.clear();
  read_tcp_listeners(kTable, 8081, inodes);
  EXPECT_THAT(inodes, IsEmpty());
}

TEST(TcpListeners, OwnOneIsFoundByItsInode) {
  const os::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::listen(socket.get(), 1), 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  struct stat status{};
  ASSERT_EQ(::fstat(socket.get(), &status), 0);
  EXPECT_THAT(tcp_listeners(ntohs(address.sin_port)), Contains(status.st_ino));
}

}  // namespace
}  // namespace bawn::sandbox::net
