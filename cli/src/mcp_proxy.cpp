/// \file
/// `bawn mcp-proxy`: any MCP server on stdio, run inside the wall and served again, its tools with
/// what they are confined by. For a server at a URL the program bawn-remote takes over.

#include "bawn/mcp/client.hpp"
#include "bawn/mcp/diagnostics.hpp"
#include "bawn/sandbox/wall.hpp"
#include "commands.hpp"
#include "environment.hpp"
#include "policy_choice.hpp"
#include "proxy_front.hpp"
#include "runtime_dir.hpp"
#include "sibling.hpp"

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
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
  std::string token_file;
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
  mcp::ClientOptions remote = proxy_client_options();
  remote.confined = [report](const contract::Context&, std::string_view) { return report; };
  remote.confinement = report;
  const auto client_end = BAWN_TRY(InputEnd::watch());
  const auto client = mcp::Client::connect(client_end->context(), inside.from_server.get(),
                                           inside.to_server.get(), std::move(remote));
  if (!client) {
    return std::unexpected(explained(*client_end, client.error()));
  }
  const auto served = serve_again(*client_end, *client);
  if (!served) {
    return std::unexpected(explained(*client_end, served.error()));
  }
  const std::size_t abandoned = *served;
  inside.wall.warden->abandon();
  if (abandoned > 0) {
    std::_Exit(0);
  }
  return 0;
}

bool is_url(const std::string& word) {
  return word.starts_with("http://") || word.starts_with("https://");
}

/// Only returns when it failed.
Error become_remote(const ProxyOptions& options) {
  if (options.command.size() > 1) {
    return {contract::ErrorCode::InvalidArgument,
            "a server at a URL takes no arguments: " + options.command[1]};
  }
  if (words_of(options.wall) != words_of(WallOptions())) {
    return {contract::ErrorCode::InvalidArgument,
            "the options of the wall are for servers that run here; one at a URL runs elsewhere"};
  }
  std::vector<std::string> words = {options.command.front()};
  if (!options.token_file.empty()) {
    words.insert(words.end(), {"--token-file", options.token_file});
  }
  return become("bawn-remote", std::move(words));
}

Result<int> proxy(const ProxyOptions& options) {
  if (is_url(options.command.front())) {
    return std::unexpected(become_remote(options));
  }
  if (!options.token_file.empty()) {
    return contract::fail(contract::ErrorCode::InvalidArgument,
                          "--token-file is for a server at a URL");
  }
  return serve(options);
}

}  // namespace

void add_mcp_proxy(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ProxyOptions>();
  CLI::App* command = app.add_subcommand(
      "mcp-proxy",
      "Run an MCP server inside the wall, or reach one at a URL, and serve what it has on stdin "
      "and stdout");
  add_wall_options(*command, options->wall);
  command
      ->add_option("--token-file", options->token_file,
                   "File of the bearer token for a server at a URL; mode 0600")
      ->type_name("FILE");
  command
      ->add_option("command", options->command,
                   "The server and its arguments, behind --, or its URL")
      ->required();
  command->positionals_at_end();
  command->callback([options, &chosen] {
    chosen = [options] {
      auto status = proxy(*options);
      if (!status) {
        // The server inside may have filled the pipe that nobody reads.
        mcp::bounded_log("bawn")(status.error().message());
        return kOwnFailure;
      }
      return *status;
    };
  });
}

}  // namespace bawn::cli
