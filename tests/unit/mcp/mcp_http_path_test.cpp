// The same server at a unix socket.
#include "fake_tools.hpp"
#include "http_client.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace bawn::mcp::test {
namespace {

TEST(HttpOnAPath, ServesThisUsersProgramsAndLeavesNothing) {
  const bawn::test::TempDir folder;
  HttpOptions options;
  options.unix_path = folder.path() / "socket";
  {
    const HttpFixture http({echo_tool()}, {}, options);
    struct stat made{};
    ASSERT_EQ(::lstat(options.unix_path.c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777U, 0600U);
    const auto send = [&](const Headers& headers) {
      HttpConnection connection(options.unix_path);
      connection.write(HttpFixture::modern(modern_body(1, "server/discover"), headers));
      return connection.reply();
    };
    EXPECT_EQ(send({{"Host", "whatever"}}).status, 200);
    EXPECT_EQ(send({{"Host", ""}}).status, 200);
    EXPECT_EQ(send({{"Origin", "http://localhost"}}).status, 403);
  }
  EXPECT_FALSE(std::filesystem::exists(options.unix_path));
}

TEST(HttpOnAPath, ADeadServersSocketIsReplacedAndALivingOnesIsNot) {
  const bawn::test::TempDir folder;
  HttpOptions options;
  options.unix_path = folder.path() / "socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options.unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(dead);
  const HttpFixture http({echo_tool()}, {}, options);
  const auto second = serve_http(Server::create({}, {echo_tool()}).value(), options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().errnum(), EADDRINUSE);
  HttpConnection connection(options.unix_path);
  connection.write(HttpFixture::modern(modern_body(1, "server/discover")));
  EXPECT_EQ(connection.reply().status, 200) << "the first one still serves";
}

TEST(HttpOnAPath, OtherFilesAndLongPathsAreRefused) {
  const bawn::test::TempDir folder;
  HttpOptions options;
  options.unix_path = folder.write("file", "mine");
  const Server server = Server::create({}, {echo_tool()}).value();
  EXPECT_EQ(serve_http(server, options).error().errnum(), EADDRINUSE);
  EXPECT_EQ(bawn::test::read_file(options.unix_path), "mine");
  options.unix_path = "/" + std::string(200, 'x');
  EXPECT_EQ(serve_http(server, options).error().code(), contract::ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace bawn::mcp::test
