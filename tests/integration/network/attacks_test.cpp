// Ways round the list of hosts, in each mode of the wall. Each is shown to work where it is
// allowed: outside, or under a policy that names its target.
#include "support/requirements.hpp"
#include "walled_network.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <string>

namespace bawn::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

/// Python that says "done" or the name of the errno.
std::string python(const std::string& code) {
  return "/usr/bin/python3 -c '\nimport errno, os, socket, ctypes\ntry:\n    " + code +
         "\n    print(\"done\")\nexcept OSError as e:\n    "
         "print(errno.errorcode.get(e.errno, type(e).__name__))\n'";
}

constexpr const char* kAsk =
    "/usr/bin/python3 -c '\nimport os, socket, sys\n"
    "port = int(os.environ[\"HTTP_PROXY\"].rsplit(\":\", 1)[1])\n"
    "s = socket.create_connection((\"127.0.0.1\", port), 10)\n"
    "s.sendall(sys.argv[1].encode().decode(\"unicode_escape\").encode(\"latin-1\"))\n"
    "out = b\"\"\n"
    "while True:\n"
    "    part = s.recv(4096)\n"
    "    if not part: break\n"
    "    out += part\n"
    "print(out)\n' ";

class NetworkAttack : public testing::TestWithParam<WallMode> {
 protected:
  /// The answer to raw bytes sent to the proxy.
  std::string ask(const std::string& bytes, const std::vector<std::string>& hosts) {
    const Walled walled = net_.run(kAsk + ("\"" + bytes + "\""), hosts);
    EXPECT_EQ(walled.result.exit_code, 0) << walled.result.err;
    report_ = walled.report;
    return walled.result.out;
  }
  [[nodiscard]] std::string try_inside(const std::string& code) {
    const Walled walled = net_.run(python(code), {"files.test"});
    EXPECT_EQ(walled.result.exit_code, 0) << walled.result.err;
    report_ = walled.report;
    return walled.result.out;
  }
  [[nodiscard]] bool without_namespaces() const { return GetParam().features_off[0] != '\0'; }

  WalledNetwork net_{GetParam()};
  contract::Json report_;
};

#define REQUIRE_AND_SERVE()      \
  BAWN_REQUIRE_MODE(GetParam()); \
  net_.serve()

TEST_P(NetworkAttack, N01DirectConnectionPastTheProxy) {
  REQUIRE_AND_SERVE();
  const std::string code =
      fmt::format("socket.create_connection((\"127.0.0.1\", {}), 10)", net_.port());
  ASSERT_EQ(net_.outside(python(code)).out, "done\n") << "the control";
  EXPECT_THAT(try_inside(code), AnyOf("EACCES\n", "ECONNREFUSED\n"));
  if (without_namespaces()) {
    ASSERT_FALSE(report_["connections"].empty());
    EXPECT_EQ(report_["connections"][0]["via"], "connect");
    EXPECT_EQ(report_["connections"][0]["allowed"], false);
    // Named in the policy it is reached: the refusal was the policy's.
    EXPECT_EQ(net_.run(python(code), {fmt::format("127.0.0.1:{}", net_.port())}).result.out,
              "done\n");
  }
}

/// A connect(2) that the supervisor answers later than the session's end, or never.
TEST_P(NetworkAttack, AConnectionThatIsNeverMadeHoldsUpNoEnd) {
  REQUIRE_AND_SERVE();
  const std::string text =
      "timeout -s KILL 1 " +
      python(
          "l = socket.create_server((\"127.0.0.1\", 0), backlog=0)\n"
          "    all = [socket.create_connection(l.getsockname()) for _ in range(9)]") +
      "; echo $?";
  ASSERT_EQ(net_.outside(text).out, "137\n") << "the control: the queue is full and it waits";
  EXPECT_EQ(net_.run(text, {"files.test"}).result.out, "137\n");
}

TEST_P(NetworkAttack, N02DirectConnectionToAMappedAddress) {
  REQUIRE_AND_SERVE();
  const std::string code = fmt::format(
      "socket.socket(socket.AF_INET6).connect((\"::ffff:127.0.0.1\", {}))", net_.port());
  ASSERT_EQ(net_.outside(python(code)).out, "done\n") << "the control";
  EXPECT_THAT(try_inside(code), AnyOf("EACCES\n", "ECONNREFUSED\n"));
}

TEST_P(NetworkAttack, N03FastOpenWithoutConnect) {
  REQUIRE_AND_SERVE();
  const std::string code =
      fmt::format("socket.socket().sendto(b\"x\", 0x20000000, (\"127.0.0.1\", {}))", net_.port());
  ASSERT_EQ(net_.outside(python(code)).out, "done\n") << "the control";
  EXPECT_THAT(try_inside(code), AnyOf("EOPNOTSUPP\n", "ENOTSUP\n", "ECONNREFUSED\n"));
}

TEST_P(NetworkAttack, N05FastOpenConnect) {
  REQUIRE_AND_SERVE();
  const std::string code = fmt::format(
      "s = socket.socket(); s.setsockopt(6, 30, 1); s.connect((\"127.0.0.1\", {0})); "
      "s.sendall(b\"x\")",
      net_.port());
  ASSERT_EQ(net_.outside(python(code)).out, "done\n") << "the control";
  EXPECT_THAT(try_inside(code), AnyOf("EOPNOTSUPP\n", "ENOTSUP\n", "ECONNREFUSED\n", "EPIPE\n"));
}

TEST_P(NetworkAttack, N07N08DatagramsToTheHost) {
  REQUIRE_AND_SERVE();
  const std::string code =
      "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
      "s.sendto(b\"x\", (\"192.0.2.1\", 53))";
  ASSERT_THAT(net_.outside(python(code)).out, AnyOf("done\n", "ENETUNREACH\n"));
  EXPECT_THAT(try_inside(code), AnyOf("EPERM\n", "ENETUNREACH\n"));
}

TEST_P(NetworkAttack, N10ToN14OtherFamilies) {
  REQUIRE_AND_SERVE();
  EXPECT_THAT(try_inside("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
              AnyOf("EPERM\n", "EACCES\n"));
  EXPECT_THAT(try_inside("socket.socket(40, socket.SOCK_STREAM)"), AnyOf("EAFNOSUPPORT\n"));
  EXPECT_THAT(try_inside("socket.socket(17, socket.SOCK_RAW)"), AnyOf("EAFNOSUPPORT\n"));
  EXPECT_THAT(try_inside("socket.socket(16, socket.SOCK_RAW, 4)"), AnyOf("EAFNOSUPPORT\n"));
  EXPECT_THAT(try_inside("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)"),
              AnyOf("EPROTONOSUPPORT\n"));
}

TEST_P(NetworkAttack, N15N16ServersAreForTheSessionOnly) {
  REQUIRE_AND_SERVE();
  // Bound to everything, or by listen(2) alone: the address is loopback's, or no interface is
  // there.
  const std::string bound = try_inside(
      "s = socket.socket(); s.bind((\"0.0.0.0\", 0)); s.listen(); t = socket.socket(); "
      "t.listen(); print(s.getsockname()[0], t.getsockname()[0])");
  EXPECT_EQ(bound,
            without_namespaces() ? "127.0.0.1 127.0.0.1\ndone\n" : "0.0.0.0 0.0.0.0\ndone\n");
  if (without_namespaces()) {
    EXPECT_EQ(try_inside("socket.socket().bind((\"192.0.2.1\", 0))"), "EACCES\n");
    EXPECT_EQ(try_inside("socket.socket().bind((\"127.0.0.1\", 80))"), "EACCES\n");
  }
}

TEST_P(NetworkAttack, N18IoUring) {
  REQUIRE_AND_SERVE();
  EXPECT_EQ(try_inside("libc = ctypes.CDLL(None, use_errno=True)\n"
                       "    if libc.syscall(425, 1, ctypes.create_string_buffer(120)) < 0:\n"
                       "        raise OSError(ctypes.get_errno(), \"io_uring\")"),
            "ENOSYS\n");
}

TEST_P(NetworkAttack, I03AbstractUnixSockets) {
  REQUIRE_AND_SERVE();
  EXPECT_THAT(try_inside("socket.socket(socket.AF_UNIX).connect(\"\\0bawn-none\")"),
              AnyOf("EAFNOSUPPORT\n", "ECONNREFUSED\n", "EPERM\n"));
}

TEST_P(NetworkAttack, LiteralAddressesThroughTheProxy) {
  REQUIRE_AND_SERVE();
  const std::string port = std::to_string(net_.port());
  for (const std::string& host :
       std::vector<std::string>{"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "127.1", "2130706433",
                                "0x7f000001", "0.0.0.0", "localhost", "169.254.169.254"}) {
    EXPECT_THAT(ask("CONNECT " + host + ":" + port + " HTTP/1.1\\r\\n\\r\\n", {"*:*"}),
                HasSubstr("403 Forbidden"))
        << host;
  }
  EXPECT_EQ(report_["connections"][0]["allowed"], false);
  // The control: the same address, named.
  EXPECT_THAT(
      ask("GET http://127.0.0.1:" + port + "/none HTTP/1.0\\r\\n\\r\\n", {"127.0.0.1:" + port}),
      HasSubstr("404"));
}

TEST_P(NetworkAttack, SocksToALiteralAddress) {
  REQUIRE_AND_SERVE();
  const std::string request = "\\x05\\x01\\x00\\x05\\x01\\x00\\x01\\xa9\\xfe\\xa9\\xfe\\x00\\x50";
  EXPECT_THAT(ask(request, {"*:*"}), HasSubstr("\\x05\\x00\\x05\\x02"));
}

TEST_P(NetworkAttack, ASecondRequestBehindTheFirst) {
  REQUIRE_AND_SERVE();
  const std::string answer =
      ask("GET http://files.test/none HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
          "GET http://other.test/ HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n",
          {"files.test"});
  EXPECT_THAT(answer, Not(HasSubstr("400"))) << "the server saw the second request";
  EXPECT_EQ(report_["connections"].size(), 1U);
}

TEST_P(NetworkAttack, ARedirectToMetadata) {
  REQUIRE_AND_SERVE();
  const Walled walled = net_.run(
      "/usr/bin/python3 -c '\nimport urllib.request, urllib.error\ntry:\n    "
      "urllib.request.urlopen(\"http://files.test/to-metadata\", timeout=20)\nexcept "
      "urllib.error.HTTPError as e:\n    print(e.code, e.read().decode())\n'",
      {"files.test", "*"});
  EXPECT_THAT(walled.result.out, HasSubstr("403"));
  EXPECT_THAT(walled.result.out, HasSubstr("169.254.169.254"));
  EXPECT_EQ(walled.report["connections"].back()["host"], "169.254.169.254");
  EXPECT_EQ(walled.report["connections"].front()["allowed"], true) << "the control";
}

TEST_P(NetworkAttack, N21MetadataUnderTheFullNetwork) {
  REQUIRE_AND_SERVE();
  const std::string code = "socket.create_connection((\"169.254.169.254\", 80), 2)";
  const Walled walled = net_.run(python(code), {}, "open-net");
  EXPECT_EQ(walled.result.out, "EACCES\n") << walled.result.err;
  EXPECT_EQ(walled.report["network"]["supervised"], true);
  EXPECT_EQ(walled.report["connections"][0]["allowed"], false);
  // The control: any other address, and this one when it is named.
  EXPECT_EQ(net_.run(python(fmt::format("socket.create_connection((\"127.0.0.1\", {}), 10)",
                                        net_.port())),
                     {}, "open-net")
                .result.out,
            "done\n");
  EXPECT_THAT(net_.run(python(code), {"169.254.169.254"}, "open-net").result.out,
              Not(testing::StartsWith("EACCES")));
}

TEST_P(NetworkAttack, N21MetadataByAChangedAddress) {
  REQUIRE_AND_SERVE();
  // One thread turns the address over while another connects: what was judged is what is used.
  const Walled walled = net_.run(
      "/usr/bin/python3 -c '\n"
      "import ctypes, os, socket, struct, threading\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "def sa(ip): return struct.pack(\"=HH4s8x\", 2, socket.htons(9), socket.inet_aton(ip))\n"
      "good, bad = sa(\"127.0.0.1\"), sa(\"169.254.169.254\")\n"
      "buf = ctypes.create_string_buffer(good, 16)\n"
      "stop = False\n"
      "def flip():\n"
      "    while not stop:\n"
      "        ctypes.memmove(buf, bad, 16); ctypes.memmove(buf, good, 16)\n"
      "t = threading.Thread(target=flip); t.start()\n"
      "judged, reached = set(), False\n"
      "for _ in range(300):\n"
      "    s = socket.socket(); s.settimeout(1)\n"
      "    libc.connect(s.fileno(), buf, 16)\n"
      "    judged.add(ctypes.get_errno() == 13)\n"
      "    own = os.stat(s.fileno()).st_ino\n"
      "    rows = [row.split() for row in open(\"/proc/self/net/tcp\")]\n"
      "    reached = reached or any(\n"
      "        row[2].startswith(\"FEA9FEA9:\") and row[9] == str(own) for row in rows)\n"
      "    s.close()\n"
      "stop = True; t.join()\n"
      "print(sorted(judged), reached)\n'",
      {}, "open-net");
  EXPECT_EQ(walled.result.out, "[False, True] False\n")
      << "both addresses must have been seen, and only one of them reached: " << walled.result.err;
}

INSTANTIATE_TEST_SUITE_P(Wall, NetworkAttack, testing::ValuesIn(wall_modes()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace bawn::test
