#include "walled_network.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>

namespace bawn::test {
namespace {

constexpr unsigned kOrdinaryUser = 12345;

// By path: an ordinary user may not reach what a version manager puts into root's PATH.
constexpr const char* kServer =
    "import functools, http.server, sys\n"
    "class Quiet(http.server.SimpleHTTPRequestHandler):\n"
    "    def log_message(self, *words): pass\n"
    "    def do_GET(self):\n"
    "        if self.path == '/to-metadata':\n"
    "            self.send_response(302)\n"
    "            self.send_header('Location', 'http://169.254.169.254/latest/')\n"
    "            self.send_header('Content-Length', '0')\n"
    "            self.end_headers()\n"
    "        else:\n"
    "            super().do_GET()\n"
    "handler = functools.partial(Quiet, directory=sys.argv[1])\n"
    "server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)\n"
    "print(server.server_address[1], flush=True)\n"
    "import threading\n"
    "threading.Thread(target=server.serve_forever, daemon=True).start()\n"
    "sys.stdin.read()\n";

}  // namespace

std::vector<WallMode> wall_modes() {
  return {{"RootNamespaces", 0, ""},
          {"RootNoNamespaces", 0, "namespaces"},
          {"UserNamespaces", kOrdinaryUser, ""},
          {"UserNoNamespaces", kOrdinaryUser, "namespaces"}};
}

FileServer::FileServer(const std::string& directory) {
  auto started = PeerProcess::start({"/usr/bin/python3", "-c", kServer, directory});
  if (!started) {
    ADD_FAILURE() << started.error().message();
    return;
  }
  process_.emplace(*std::move(started));
  if (const auto line = process_->read_line()) {
    std::from_chars(line->data(), line->data() + line->size(), port_);
  }
  EXPECT_GT(port_, 0) << "the file server does not come up";
}

WalledNetwork::WalledNetwork(const WallMode& mode) : mode_(mode) {
  for (const char* name : {"ws", "home", "site", "policy"}) {
    std::filesystem::create_directory(root_.path() / name);
    if (mode.uid != 0 && ::geteuid() == 0) {
      EXPECT_EQ(::chown((root_.path() / name).c_str(), mode.uid, mode.uid), 0);
    }
  }
  std::filesystem::permissions(root_.path(), std::filesystem::perms(0755));
}

void WalledNetwork::write_policy(const std::vector<std::string>& hosts,
                                 const std::string& preset) const {
  contract::Json policy;
  policy["extends"] = preset;
  policy["hosts"] = hosts;
  if (preset == "workspace-net") {
    policy["host_addresses"] = {{"files.test", fmt::format("127.0.0.1:{}", port())}};
  }
  std::ofstream(root_.path() / "policy/p.json") << policy.dump();
}

Walled WalledNetwork::run(const std::string& text, const std::vector<std::string>& hosts,
                          const std::string& preset) const {
  write_policy(hosts, preset);
  const std::string report = (root_.path() / "policy/report.json").string();
  Walled walled;
  walled.result = run_program(
      {.argv = {BAWN_PROGRAM, "run", "--policy", (root_.path() / "policy/p.json").string(),
                "--workspace", (root_.path() / "ws").string(), "--report", report, "--", "sh", "-c",
                text},
       .input = {},
       .directory = (root_.path() / "ws").string(),
       .env = {{"HOME", (root_.path() / "home").string()},
               {"TMPDIR", "/tmp"},
               {"PATH", "/usr/local/bin:/usr/bin:/bin"},
               {"BAWN_FEATURES_OFF", mode_.features_off}},
       .uid = mode_.uid});
  if (auto json = contract::parse_json(read_file(report))) {
    walled.report = *std::move(json);
  }
  return walled;
}

ProgramResult WalledNetwork::outside(const std::string& text) const {
  return run_program({.argv = {"sh", "-c", text},
                      .input = {},
                      .directory = (root_.path() / "ws").string(),
                      .env = {{"HOME", (root_.path() / "home").string()},
                              {"PATH", "/usr/local/bin:/usr/bin:/bin"}},
                      .uid = mode_.uid});
}

}  // namespace bawn::test
