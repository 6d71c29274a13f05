// Programs as people use them, through the proxy, in each mode of the wall.
#include "support/requirements.hpp"
#include "walled_network.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace bawn::test {
namespace {

using testing::HasSubstr;

class NetworkClient : public testing::TestWithParam<WallMode> {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(net_.site()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// Runs shell text that must succeed.
  std::string run(const std::string& text) {
    net_.serve();
    const Walled walled = net_.run(text, {"files.test"});
    EXPECT_EQ(walled.result.exit_code, 0) << walled.result.out << walled.result.err;
    return walled.result.out;
  }
  WalledNetwork net_{GetParam()};
};

TEST_P(NetworkClient, CurlReadsOverHttpConnectAndSocks) {
  BAWN_REQUIRE_MODE(GetParam());
  if (net_.outside("command -v curl").exit_code != 0) {
    GTEST_SKIP() << "there is no curl";
  }
  write("f", "hello\n");
  EXPECT_EQ(run("curl -sS -m 20 http://files.test/f && curl -sS -m 20 -p http://files.test/f && "
                "curl -sS -m 20 -x socks5h://${HTTP_PROXY#http://} http://files.test/f"),
            "hello\nhello\nhello\n");
}

TEST_P(NetworkClient, GitClones) {
  BAWN_REQUIRE_MODE(GetParam());
  BAWN_REQUIRE("git");
  const auto made = net_.outside(
      "cd " + net_.site() +
      " && git init -q r && git -C r -c user.name=a -c user.email=a@b commit -q --allow-empty -m "
      "first && git clone -q --bare r repo.git && git -C repo.git update-server-info");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(run("git clone -q http://files.test/repo.git c && git -C c log --format=%s"),
              HasSubstr("first"));
}

TEST_P(NetworkClient, PythonReadsByUrllib) {
  BAWN_REQUIRE_MODE(GetParam());
  write("f", "hello\n");
  EXPECT_EQ(run("/usr/bin/python3 -c 'import urllib.request as u; "
                "print(u.urlopen(\"http://files.test/f\", timeout=20).read())'"),
            "b'hello\\n'\n");
}

TEST_P(NetworkClient, PipInstallsFromAnIndex) {
  BAWN_REQUIRE_MODE(GetParam());
  if (net_.outside("/usr/bin/python3 -m pip --version").exit_code != 0) {
    GTEST_SKIP() << "there is no pip";
  }
  const auto made = net_.outside(
      "mkdir -p " + net_.site() + "/simple/bawnpip && cd " + net_.site() +
      "/simple/bawnpip && /usr/bin/python3 -c \"\nimport zipfile\n"
      "z = zipfile.ZipFile('bawnpip-1.0-py3-none-any.whl', 'w')\nd = 'bawnpip-1.0.dist-info/'\n"
      "z.writestr('bawnpip.py', 'x = 1')\n"
      "z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: bawnpip\\nVersion: 1.0\\n')\n"
      "z.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: "
      "py3-none-any\\n')\nz.writestr(d + 'RECORD', '')\n\"");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(run("unset PIP_FIND_LINKS; /usr/bin/python3 -m pip install -q "
                "--disable-pip-version-check --no-cache-dir --index-url http://files.test/simple/ "
                "--trusted-host files.test --target t bawnpip && ls t/bawnpip.py"),
            "t/bawnpip.py\n");
}

TEST_P(NetworkClient, NpmInstallsFromARegistry) {
  BAWN_REQUIRE_MODE(GetParam());
  BAWN_REQUIRE("npm");
  write("package/package.json", R"({"name":"bawnnpm","version":"1.0.0"})");
  write("bawnnpm",
        R"({"name":"bawnnpm","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"bawnnpm",)"
        R"("version":"1.0.0","dist":{"tarball":"http://files.test/b.tgz"}}}})");
  ASSERT_EQ(net_.outside("cd " + net_.site() + " && tar czf b.tgz package").exit_code, 0);
  EXPECT_THAT(run("npm install --no-audit --no-fund --registry http://files.test/ bawnnpm && "
                  "cat node_modules/bawnnpm/package.json"),
              HasSubstr("\"bawnnpm\""));
}

TEST_P(NetworkClient, ServersOfTheSessionsOwnAreReachedOnLoopback) {
  BAWN_REQUIRE_MODE(GetParam());
  EXPECT_EQ(run("/usr/bin/python3 -c '\n"
                "import socket, threading, urllib.request, http.server\n"
                "class H(http.server.BaseHTTPRequestHandler):\n"
                "    def do_GET(self):\n"
                "        self.send_response(200); self.end_headers(); self.wfile.write(b\"own\")\n"
                "    def log_message(self, *a): pass\n"
                "s = http.server.HTTPServer((\"\", 0), H)\n"
                "threading.Thread(target=s.serve_forever, daemon=True).start()\n"
                "for host in (\"127.0.0.1\", \"localhost\"):\n"
                "    u = \"http://%s:%d/\" % (host, s.server_address[1])\n"
                "    print(urllib.request.urlopen(u, timeout=20).read().decode())\n"
                "'"),
            "own\nown\n");
}

INSTANTIATE_TEST_SUITE_P(Wall, NetworkClient, testing::ValuesIn(wall_modes()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace bawn::test
