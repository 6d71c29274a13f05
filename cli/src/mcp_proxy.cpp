/// \file
/// `bawn mcp-proxy`: any MCP server on stdio, run inside the wall, its tools served again with what
/// they are confined by.

#include "bawn/mcp/client.hpp"
#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"
#include "bawn/sandbox/wall.hpp"
#include "commands.hpp"
#include "environment.hpp"
#include "policy_choice.hpp"
#include "runtime_dir.hpp"

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bawn::cli {
namespace {

using contract::Error;
using contract::Result;

struct ProxyOptions {
  WallOptions wall;
  std::vector<std::string> command;
};

struct Pipe {
  os::UniqueFd read_end;
  os::UniqueFd write_end;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::unexpected(Error::from_errno(errno, "pipe2", "a pipe to the server"));
  }
  return Pipe{.read_end = os::UniqueFd(ends[0]), .write_end = os::UniqueFd(ends[1])};
}

/// The server inside, and our ends of its pipes.
struct Inside {
  sandbox::Wall wall;
  std::shared_ptr<sandbox::Child> child;
  os::UniqueFd to_server;
  os::UniqueFd from_server;
};

Result<Inside> start(const ProxyOptions& options) {
  sandbox::WallRequest request;
  request.policy = BAWN_TRY(choose_policy(options.wall));
  request.workspace = options.wall.workspace;
  BAWN_TRY(check_apart_from_state(request.workspace));
  Pipe input = BAWN_TRY(make_pipe());
  Pipe output = BAWN_TRY(make_pipe());
  Inside inside{.wall = BAWN_TRY(sandbox::raise_wall(request)),
                .child = nullptr,
                .to_server = std::move(input.write_end),
                .from_server = std::move(output.read_end)};
  sandbox::SpawnSpec spec;
  spec.argv = options.command;
  spec.env = sandbox::session_environment(request.policy, inside.wall.plan, own_environment(),
                                          sandbox::proxy_port(*inside.wall.warden));
  spec.cwd = inside.wall.plan.workspace;
  spec.standard_input = std::move(input.read_end);
  spec.standard_output = std::move(output.write_end);
  spec.standard_error = os::UniqueFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  inside.child = BAWN_TRY(inside.wall.warden->spawn(std::move(spec)));
  BAWN_TRY(inside.child->go());
  return inside;
}

Result<int> serve(const ProxyOptions& options) {
  // A server that ended is an error of write(), not ours.
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  const Inside inside = BAWN_TRY(start(options));
  const contract::Confinement report = inside.wall.warden->report();
  mcp::ClientOptions remote{.name = "bawn-mcp-proxy", .version = BAWN_VERSION};
  remote.confined = [report](const contract::Context&, std::string_view) { return report; };
  remote.confinement = report;
  remote.elicitation = true;
  remote.log = [](std::string_view line) {
    std::fprintf(stderr, "bawn mcp-proxy: %.*s\n", static_cast<int>(line.size()), line.data());
  };
  const contract::Context context;
  const auto client = BAWN_TRY(mcp::Client::connect(context, inside.from_server.get(),
                                                    inside.to_server.get(), std::move(remote)));
  mcp::ServerOptions front{.name = "bawn-mcp-proxy",
                           .version = BAWN_VERSION,
                           .instructions = client->instructions().substr(0, 2048),
                           .any_tool_name = true};
  auto tools = BAWN_TRY(client->tools(context));
  const auto server = BAWN_TRY(mcp::Server::create(std::move(front), std::move(tools)));
  const auto end = BAWN_TRY(mcp::serve_stdio(server, {}));
  client->close();
  inside.wall.warden->abandon();
  if (end.abandoned_calls > 0) {
    std::_Exit(0);
  }
  return 0;
}

}  // namespace

void add_mcp_proxy(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ProxyOptions>();
  CLI::App* command = app.add_subcommand(
      "mcp-proxy", "Run an MCP server inside the wall and serve its tools on stdin and stdout");
  add_wall_options(*command, options->wall);
  command->add_option("command", options->command, "The server and its arguments, behind --")
      ->required();
  command->positionals_at_end();
  command->callback([options, &chosen] {
    chosen = [options] {
      auto status = serve(*options);
      if (!status) {
        std::fprintf(stderr, "bawn: %s\n", status.error().message().c_str());
        return kOwnFailure;
      }
      return *status;
    };
  });
}

}  // namespace bawn::cli
