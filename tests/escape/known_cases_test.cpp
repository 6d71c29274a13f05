// Walls of others that did not hold or said what was not so, one test for each class. The rest of
// these classes: io_uring and second ABIs (K04, K09, K10) and sockets behind a read-only mount
// (I04) are in the tables here; what file tools follow out of the workspace is in
// tests/integration/file_agent and tests/integration/files; a missing warden in
// tests/integration/wall.
#include "support/peer_process.hpp"
#include "support/requirements.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bawn::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class KnownCase : public testing::Test {
 protected:
  void SetUp() override {
    BAWN_REQUIRE("landlock");
    BAWN_REQUIRE("user-namespaces");
  }
  /// The report of `bawn run` as JSON, or null.
  contract::Json report() const {
    const auto text = run_program({.argv = {"cat", report_}}).out;
    return contract::parse_json(text).value_or(contract::Json());
  }

  TempDir base_{"/var/tmp"};
  TempDir beside_;
  std::string report_ = (beside_.path() / "report.json").string();
};

TEST_F(KnownCase, ADenialIsInTheResultAndTheCallNoSuccess) {
  BAWN_REQUIRE("bash");
  auto server = McpPeer::connect({BAWN_PROGRAM, "mcp", "--workspace", base_.path()});
  ASSERT_TRUE(server) << server.error().message();
  const auto answer = server->call_tool("bash", R"({"command": "touch /etc/bawn-denied"})");
  ASSERT_TRUE(answer) << answer.error().message();
  const auto result = contract::parse_json(*answer)->at("result").at("structuredContent");
  EXPECT_EQ(result.at("exit_code"), 1);
  ASSERT_EQ(result.at("denials").size(), 1U) << *answer;
  const auto& denial = result.at("denials")[0];
  EXPECT_EQ(denial.at("op"), "write");
  EXPECT_EQ(denial.at("target"), "/etc/bawn-denied");
  EXPECT_THAT(denial.at("layer").get<std::string>(), HasSubstr("landlock"));
  EXPECT_THAT(denial.at("rule").get<std::string>(), HasSubstr(base_.path().string()));
  EXPECT_EQ(denial.at("evidence"), "replay");
  EXPECT_EQ(denial.at("certainty"), "possible");
}

TEST_F(KnownCase, AFilterThatAsksItsSupervisorDoesNotStopItsOwnStart) {
  for (const char* off : {"", "namespaces"}) {
    const auto run = run_program(
        {.argv = {BAWN_PROGRAM, "run", "--policy", "workspace-net", "--allow-host", "example.org",
                  "--workspace", base_.path(), "--", "/bin/sh", "-c", "echo started"},
         .env = {{"BAWN_FEATURES_OFF", off}}});
    EXPECT_EQ(run.out, "started\n") << off << run.err;
  }
}

TEST_F(KnownCase, WhereSomebodyElseListensTheLayerIsMissingAndTheRestApplied) {
  BAWN_REQUIRE("python3");
  // A filter that allows everything, with the one listener that a process can have.
  const std::string listen = R"(
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
allow = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000))
program = struct.pack('HxxxxxxP', 1, ctypes.addressof(allow))
number = 277 if os.uname().machine == 'aarch64' else 317
listener = libc.syscall(number, 1, 8, program)
if listener < 0:
    sys.exit(77)
os.set_inheritable(listener, True)
os.execv(sys.argv[1], sys.argv[1:])
)";
  const auto run =
      run_program({.argv = {"/usr/bin/python3", "-c", listen, BAWN_PROGRAM, "run", "--policy",
                            "open-net", "--workspace", base_.path(), "--report", report_, "--",
                            "/bin/sh", "-c", "touch /etc/bawn-denied"}});
  if (run.exit_code == 77) {
    GTEST_SKIP() << "there is a listener already";
  }
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.err, AnyOf(HasSubstr("Read-only file system"), HasSubstr("Permission denied")));
  const std::string told = contract::dump_json(report());
  EXPECT_THAT(told, HasSubstr("\"confined\":true"));
  EXPECT_THAT(told, HasSubstr("listener")) << "the loss is named";
}

}  // namespace
}  // namespace bawn::test
