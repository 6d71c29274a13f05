/// \file
/// `bawn mcp-proxy` before a server that means ill, or none that answers: it stays nobody's
/// hostage.
#include "bawn/mcp/client.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/spawn.hpp"
#include "support/requirements.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::test {
namespace {

using testing::HasSubstr;

class ProxyEnd : public testing::Test {
 protected:
  void SetUp() override { BAWN_REQUIRE("user-namespaces"); }

  ProgramResult before_a_mute_server(const std::string& input) {
    return run_program({.argv = {BAWN_PROGRAM, "mcp-proxy", "--workspace", workspace_.path(), "--",
                                 "sleep", "600"},
                        .input = input,
                        .directory = {},
                        .env = {},
                        .uid = 0});
  }

  TempDir workspace_{"/var/tmp"};
};

TEST_F(ProxyEnd, AClientThatLeavesInTheHandshakeEndsIt) {
  const auto ended = before_a_mute_server("");
  EXPECT_EQ(ended.exit_code, 125);
  EXPECT_THAT(ended.err, HasSubstr("the client is gone"));
}

TEST_F(ProxyEnd, ARequestThatIsLeftInTheInputDelaysThatOnly) {
  const auto ended = before_a_mute_server(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                                          "\n");
  EXPECT_EQ(ended.exit_code, 125);
  EXPECT_THAT(ended.err, HasSubstr("the client is gone"));
}

/// Answers as a server of the older rules, with a flood of log messages before the first answer.
constexpr const char* kFlood =
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "  m = json.loads(line)\n"
    "  if 'id' not in m: continue\n"
    "  a = {'jsonrpc': '2.0', 'id': m['id']}\n"
    "  if m['method'] == 'initialize':\n"
    "    said = {'jsonrpc': '2.0', 'method': 'notifications/message',\n"
    "            'params': {'level': 'info', 'data': 'x' * 100}}\n"
    "    sys.stdout.write((json.dumps(said) + '\\n') * 20000)\n"
    "    a['result'] = {'protocolVersion': m['params']['protocolVersion'],\n"
    "                   'capabilities': {}, 'serverInfo': {'name': 'f', 'version': '1'}}\n"
    "  else:\n"
    "    a['error'] = {'code': -32601, 'message': 'no'}\n"
    "  print(json.dumps(a), flush=True)\n";

TEST_F(ProxyEnd, AFloodOfLogMessagesIsNotWaitedForWhereNobodyReadsThem) {
  BAWN_REQUIRE("python3");
  auto to = os::Pipe::make();
  auto from = os::Pipe::make();
  auto said = os::Pipe::make();  // never read
  ASSERT_TRUE(to && from && said);
  auto proxy =
      os::spawn({.program = BAWN_PROGRAM,
                 .argv = {"bawn", "mcp-proxy", "--workspace", workspace_.path(), "--", "python3",
                          "-c", kFlood},
                 .env = {"PATH=/usr/bin:/bin", "HOME=/"},
                 .fds = {{to->read.get(), 0}, {from->write.get(), 1}, {said->write.get(), 2}}});
  ASSERT_TRUE(proxy) << proxy.error().message();
  to->read.reset();
  from->write.reset();
  auto client = mcp::Client::connect(contract::Context(), from->read.get(), to->write.get(),
                                     {.era = mcp::EraChoice::Legacy});
  EXPECT_TRUE(client) << client.error().message();
  if (client) {
    (*client)->close();
  }
  to->write.reset();
  proxy->wait();
}

}  // namespace
}  // namespace bawn::test
