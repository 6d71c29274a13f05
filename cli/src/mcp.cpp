/// \file
/// `bawn mcp`: the tools of a session pool, served on stdin and stdout. Nothing is started before
/// the first call needs it. With --http the program bawn-http takes over.

#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"
#include "commands.hpp"
#include "limit_options.hpp"
#include "listen_path.hpp"
#include "own_tools.hpp"
#include "policy_choice.hpp"
#include "program.hpp"
#include "serving.hpp"
#include "sibling.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::cli {
namespace {

using contract::Result;

struct McpOptions {
  WallOptions wall;
  LimitOptions limits;
  bool login_environment = false;
  std::optional<std::string> listen;
  std::optional<std::string> http;
  std::vector<std::string> http_words;  ///< for bawn-http, as they came
};

/// Hosts start servers in whatever directory, and some say in a variable where the project is.
void find_workspace(WallOptions& wall) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread is there yet
  const char* const project = std::getenv("CLAUDE_PROJECT_DIR");
  if (project != nullptr && project[0] == '/') {
    wall.workspace = project;
  }
}

Result<std::string> socket_path(const std::string& word) {
  constexpr std::string_view kUnix = "unix:";
  if (!word.starts_with(kUnix)) {
    return contract::fail(contract::ErrorCode::InvalidArgument,
                          "--listen wants unix:PATH; for an address there is --http");
  }
  return word.substr(kUnix.size());
}

Result<int> serve(const McpOptions& options) {
  OwnTools own = BAWN_TRY(
      make_own_tools(options.wall, options.limits,
                     options.login_environment ? LoginEnvironment::Yes : LoginEnvironment::No));
  const auto server = BAWN_TRY(make_server(own));
  mcp::StdioOptions stdio{.context = own.context};
  if (!options.listen) {
    const auto end = BAWN_TRY(mcp::serve_stdio(server, stdio));
    return finish_serving(own, end.abandoned_calls);
  }
  const std::string path = BAWN_TRY(socket_path(*options.listen));
  const mcp::SocketOptions socket{.path = BAWN_TRY(socket_path_outside(path, own.pool->config())),
                                  .each = std::move(stdio)};
  const auto end = BAWN_TRY(mcp::serve_socket(server, socket, [&] {
    std::fprintf(stderr, "bawn mcp: serving at unix:%s\n", socket.path.c_str());
  }));
  return finish_serving(own, end.abandoned_calls);
}

/// Only returns when it failed.
contract::Error become_http(const McpOptions& options) {
  std::vector<std::string> words = words_of(options.wall);
  if (!options.http->empty()) {
    words.insert(words.end(), {"--listen", *options.http});
  }
  if (options.listen) {
    words.insert(words.end(), {"--listen", *options.listen});
  }
  if (options.login_environment) {
    words.emplace_back("--login-environment");
  }
  const auto limits = words_of(options.limits);
  words.insert(words.end(), limits.begin(), limits.end());
  words.insert(words.end(), options.http_words.begin(), options.http_words.end());
  return become("bawn-http", std::move(words));
}

}  // namespace

void add_mcp(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<McpOptions>();
  CLI::App* command = app.add_subcommand(
      "mcp", "Serve the tools over MCP on stdin and stdout, or with --http over HTTP");
  add_wall_options(*command, options->wall);
  add_grant_option(*command, options->wall);
  add_limit_options(*command, options->limits);
  command->add_flag(
      "--login-environment", options->login_environment,
      "Sessions begin with what the user's profile exports, taken once inside the wall");
  command
      ->add_option("--listen", options->listen,
                   "Serve any number of clients at a unix socket for this user's programs")
      ->type_name("unix:PATH");
  command
      ->add_option("--http", options->http,
                   "Serve over HTTP at ADDRESS:PORT (127.0.0.1:8808 when left out); further "
                   "options: bawn-http --help")
      ->expected(0, 1)
      ->type_name("[ADDRESS:PORT]");
  command->allow_extras();
  command->callback([options, command, &chosen] {
    if (command->get_option("--workspace")->count() == 0) {
      find_workspace(options->wall);
    }
    options->http_words = command->remaining();
    if (!options->http && !options->http_words.empty()) {
      throw CLI::ExtrasError(options->http_words);
    }
    chosen = [options] {
      auto status =
          options->http ? Result<int>(std::unexpected(become_http(*options))) : serve(*options);
      if (!status) {
        tell_failure("bawn", status.error().message());
        return kOwnFailure;
      }
      return *status;
    };
  });
}

}  // namespace bawn::cli
