/// \file
/// The program `bawn-remote`: an MCP server at a URL, served again on stdin and stdout. `bawn
/// mcp-proxy URL` starts it. A program of its own, so that `bawn` links no HTTP client.

#include "bawn/mcp/http.hpp"
#include "bawn/mcp/http_client.hpp"
#include "commands.hpp"
#include "program.hpp"
#include "proxy_front.hpp"

#include <CLI/CLI.hpp>

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bawn::cli {
namespace {

using contract::ErrorCode;
using contract::fail;
using contract::Result;

struct Options {
  std::string url;
  std::string token_file;
  std::string prefix;
};

Result<int> serve(const Options& options) {
  // A server that ended is an error of write(), not ours.
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  mcp::HttpClientOptions http;
  if (!options.token_file.empty()) {
    const auto tokens = BAWN_TRY(mcp::read_bearer_tokens(options.token_file));
    if (tokens.size() != 1) {
      return fail(ErrorCode::InvalidArgument, "--token-file must hold one token");
    }
    http.authorization = mcp::fixed_token(tokens.front().token);
  }
  mcp::ClientOptions client_options = proxy_client_options();
  client_options.prefix = options.prefix;
  const auto client_end = BAWN_TRY(InputEnd::watch());
  const auto client = mcp::connect_http(client_end->context(), options.url,
                                        std::move(client_options), std::move(http));
  if (!client) {
    return std::unexpected(explained(*client_end, client.error()));
  }
  const auto abandoned = serve_again(*client_end, *client);
  if (!abandoned) {
    return std::unexpected(explained(*client_end, abandoned.error()));
  }
  if (*abandoned > 0) {
    std::_Exit(0);
  }
  return 0;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("An MCP server at a URL, served again on stdin and stdout.", "bawn-remote");
  app.set_version_flag("--version", std::string("bawn-remote ") + BAWN_VERSION);
  app.add_option("url", options.url, "The server's endpoint, http or https")->required();
  app.add_option("--token-file", options.token_file, "File of the bearer token to send; mode 0600")
      ->type_name("FILE");
  app.add_option("--prefix", options.prefix, "Tools are named PREFIX__NAME")->type_name("PREFIX");
  return run_program(app, argc, argv, [&] { return serve(options); });
}

}  // namespace
}  // namespace bawn::cli

int main(int argc, char** argv) {
  return bawn::cli::run(argc, argv);
}
