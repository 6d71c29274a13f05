// N15-N17: being reached from outside. Whoever listens says whether somebody came; the host tries.
#include "support/peer_process.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::test {
namespace {

struct Way {
  const char* name;
  int type;
  const char* code;  ///< makes the socket `s`
};

// For the names that ctest lists.
void PrintTo(const Way& one, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << one.name;
}

constexpr Way kWays[] = {
    {"N15_ListenOnAPort", SOCK_STREAM, "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()"},
    {"N16_ListenWithoutBinding", SOCK_STREAM, "s = socket.socket(); s.listen()"},
    {"N17_BindADatagramSocket", SOCK_DGRAM,
     "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0))"},
};

std::string script(const Way& way) {
  return fmt::format(R"(import errno, socket, sys
try:
    {}
    s.setblocking(False)
    print(s.getsockname()[1], flush=True)
    sys.stdin.readline()
    try:
        s.accept() if s.type == socket.SOCK_STREAM else s.recv(9)
        print('reached')
    except BlockingIOError:
        print('nobody')
except OSError as error:
    print(errno.errorcode[error.errno], flush=True))",
                     way.code);
}

void reach(int type, int port) {
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    (void)!::write(fd, "x", 1);
  }
  ::close(fd);
}

/// "reached", "nobody", or the errno's name.
std::string answer(std::vector<std::string> argv, const Way& way, const char* features_off) {
  argv.insert(argv.end(), {"/usr/bin/python3", "-c", script(way)});
  auto process = PeerProcess::start(argv, {std::string("BAWN_FEATURES_OFF=") + features_off});
  if (!process) {
    return process.error().message();
  }
  const std::string first(process->read_line().value_or("no answer"));
  const int port = std::atoi(first.c_str());
  if (port == 0) {
    return first;
  }
  reach(way.type, port);
  if (!process->write("look\n")) {
    return "it is gone";
  }
  return std::string(process->read_line().value_or("no answer"));
}

class Listening : public testing::TestWithParam<Way> {};

TEST_P(Listening, IsNotReachedFromOutside) {
  BAWN_REQUIRE("python3");
  BAWN_REQUIRE("landlock");
  BAWN_REQUIRE("user-namespaces");
  ASSERT_EQ(answer({"/usr/bin/env"}, GetParam(), ""), "reached") << "the control";
  const TempDir base("/var/tmp");
  const std::vector<std::string> inside = {BAWN_PROGRAM, "run", "--workspace", base.path(), "--"};
  EXPECT_EQ(answer(inside, GetParam(), ""), "nobody");
  EXPECT_EQ(answer(inside, GetParam(), "landlock"), "nobody");
  EXPECT_THAT(answer(inside, GetParam(), "namespaces"),
              testing::AnyOf("EPERM", "EACCES", "EAFNOSUPPORT"));
}

INSTANTIATE_TEST_SUITE_P(Wall, Listening, testing::ValuesIn(kWays),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace bawn::test
