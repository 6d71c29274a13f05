/// \file
/// `bawn mcp`: the tools of a session pool, served on stdin and stdout. Nothing is started before
/// the first call needs it. With --http the program bawn-http takes over.

#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"
#include "commands.hpp"
#include "limit_options.hpp"
#include "own_tools.hpp"
#include "policy_choice.hpp"
#include "serving.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bawn::cli {
namespace {

using contract::Result;

struct McpOptions {
  WallOptions wall;
  LimitOptions limits;
  bool login_environment = false;
  std::optional<std::string> http;
  std::vector<std::string> http_words;  ///< for bawn-http, as they came
};

Result<int> serve(const McpOptions& options) {
  OwnTools own = BAWN_TRY(
      make_own_tools(options.wall, options.limits,
                     options.login_environment ? LoginEnvironment::Yes : LoginEnvironment::No));
  const auto server = BAWN_TRY(make_server(own));
  const auto end = BAWN_TRY(mcp::serve_stdio(server, {.context = own.context}));
  return finish_serving(own, end.abandoned_calls);
}

/// The file of that name beside this program, so that both are of one version.
Result<std::string> beside_this_program(const std::string& name) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) {
    return std::unexpected(
        contract::Error::from_errno(errno, "readlink", "finding the program's own folder"));
  }
  const std::string own(path.data(), static_cast<std::size_t>(length));
  return own.substr(0, own.rfind('/') + 1) + name;
}

/// Only returns when it failed.
contract::Error become_http(const McpOptions& options) {
  const auto program = beside_this_program("bawn-http");
  if (!program) {
    return program.error();
  }
  std::vector<std::string> words = {"bawn-http"};
  const auto wall = words_of(options.wall);
  words.insert(words.end(), wall.begin(), wall.end());
  if (!options.http->empty()) {
    words.insert(words.end(), {"--listen", *options.http});
  }
  if (options.login_environment) {
    words.emplace_back("--login-environment");
  }
  const auto limits = words_of(options.limits);
  words.insert(words.end(), limits.begin(), limits.end());
  words.insert(words.end(), options.http_words.begin(), options.http_words.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  ::execv(program->c_str(), argv.data());
  return contract::Error::from_errno(errno, "execv", "starting " + *program);
}

}  // namespace

void add_mcp(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<McpOptions>();
  CLI::App* command = app.add_subcommand(
      "mcp", "Serve the tools over MCP on stdin and stdout, or with --http over HTTP");
  add_wall_options(*command, options->wall);
  add_limit_options(*command, options->limits);
  command->add_flag(
      "--login-environment", options->login_environment,
      "Sessions begin with what the user's profile exports, taken once inside the wall");
  command
      ->add_option("--http", options->http,
                   "Serve over HTTP at ADDRESS:PORT (127.0.0.1:8808 when left out); further "
                   "options: bawn-http --help")
      ->expected(0, 1)
      ->type_name("[ADDRESS:PORT]");
  command->allow_extras();
  command->callback([options, command, &chosen] {
    options->http_words = command->remaining();
    if (!options->http && !options->http_words.empty()) {
      throw CLI::ExtrasError(options->http_words);
    }
    chosen = [options] {
      auto status =
          options->http ? Result<int>(std::unexpected(become_http(*options))) : serve(*options);
      if (!status) {
        std::fprintf(stderr, "bawn: %s\n", status.error().message().c_str());
        return kOwnFailure;
      }
      return *status;
    };
  });
}

}  // namespace bawn::cli
