/// \file
/// An MCP server with tools that misbehave in the ways the tests need.

#include "bawn/contract/tool.hpp"
#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"

#include <spawn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace bawn;
using contract::Call;
using contract::Context;
using contract::Outcome;
using contract::text_result;

class FixtureTool final : public contract::Tool {
 public:
  using Function = Outcome (*)(const Context&, const Call&);
  FixtureTool(contract::Definition definition, contract::Properties properties, Function function)
      : Tool(std::move(definition), std::move(properties)), function_(function) {}
  Outcome execute(const Context& context, const Call& call) const override {
    return function_(context, call);
  }

 private:
  Function function_;
};

Outcome echo(const Context& /*context*/, const Call& call) {
  return text_result(call.args);
}

Outcome measure(const Context& /*context*/, const Call& call) {
  contract::ToolResult result = text_result(std::to_string(call.args.size()) + " bytes");
  result.structured = contract::Json{{"bytes", call.args.size()}};
  result.confinement = contract::Confinement{.confined = true,
                                             .by = "landlock",
                                             .confirmed = true,
                                             .policy = "test",
                                             .policy_id = "sha256:0",
                                             .user = "nobody(65534)",
                                             .layers = {},
                                             .guarantees = {"fs-write"},
                                             .notes = {}};
  return result;
}

Outcome refuse(const Context& /*context*/, const Call& /*call*/) {
  return contract::Error(contract::ErrorCode::PermissionDenied, "no: that is outside the wall");
}

/// Writes where a careless library would.
Outcome pollute(const Context& /*context*/, const Call& /*call*/) {
  std::printf("printed by a tool\n");
  std::fflush(stdout);
  constexpr std::string_view kText = "written by a tool\n";
  const auto written = ::write(STDOUT_FILENO, kText.data(), kText.size());
  char byte = 0;
  const auto got = ::read(STDIN_FILENO, &byte, 1);
  return text_result(written > 0 && got == 0 ? "stdin is empty" : "stdin has something");
}

/// Waits until the call ends; `deaf` does not even then.
Outcome hang(const Context& context, const Call& call) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  if (call.args.find("deaf") != std::string::npos) {
    changed.wait(lock, [] { return false; });
  }
  changed.wait(lock, context.stop_token(), [] { return false; });
  return text_result("interrupted");
}

/// Leaves a process behind that holds whatever it inherited.
Outcome leave_child(const Context& /*context*/, const Call& /*call*/) {
  std::array<char, 6> program{"sleep"};
  std::array<char, 3> seconds{"30"};
  std::array<char*, 3> argv{program.data(), seconds.data(), nullptr};
  pid_t child = -1;
  const int failed = ::posix_spawnp(&child, program.data(), nullptr, nullptr, argv.data(), environ);
  return text_result(failed == 0 ? std::to_string(child) : "failed");
}

contract::ToolPtr tool(const char* name, const char* description, FixtureTool::Function function,
                       contract::Properties properties = {}) {
  return std::make_shared<const FixtureTool>(
      contract::Definition{.name = name, .description = description, .parameters = {}},
      std::move(properties), function);
}

std::vector<contract::ToolPtr> fixture_tools() {
  contract::Properties measured;
  measured.annotations = contract::Annotations{.title = "Measure",
                                               .read_only = true,
                                               .destructive = false,
                                               .idempotent = true,
                                               .open_world = false};
  measured.output_schema =
      R"({"type":"object","properties":{"bytes":{"type":"integer"}},"required":["bytes"]})";
  return {tool("echo", "Answers with its arguments.", echo),
          tool("measure", "Says how long its arguments are.", measure, measured),
          tool("refuse", "Refuses.", refuse),
          tool("pollute", "Writes to the standard output.", pollute),
          tool("hang", "Waits.", hang),
          tool("leave_child", "Leaves a process behind.", leave_child)};
}

}  // namespace

/// usage: mcp_fixture_server [--listen PATH] [--grace-minutes N]; with a path it says "ready"
/// on standard error once clients can connect.
int main(int argc, char** argv) {
  const auto server = mcp::Server::create(
      {.name = "fixture", .title = "Fixture", .version = "1.0", .instructions = "For tests."},
      fixture_tools());
  if (!server) {
    return 2;
  }
  mcp::StdioOptions options;
  std::string path;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (argv[i] == std::string_view("--listen")) {
      path = argv[i + 1];
    } else {
      options.eof_grace = std::chrono::minutes(std::atoi(argv[i + 1]));
      options.cancel_grace = options.eof_grace;  // the tests look at what is answered, not how soon
    }
  }
  if (!path.empty()) {
    const auto served = mcp::serve_socket(*server, {.path = path, .each = options},
                                          [] { std::fputs("ready\n", stderr); });
    return served ? 0 : 1;
  }
  const auto end = mcp::serve_stdio(*server, options);
  if (end && end->abandoned_calls > 0) {
    std::_Exit(0);
  }
  return end ? 0 : 1;
}
