/// \file
/// A server with everything that the official conformance suite asks for.
/// usage: conformance_server [PORT [TOKEN]]; prints the port and serves until a signal. With a
/// token only who has it is served.
///        conformance_server --stdio

#include "bawn/mcp/http.hpp"
#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"
#include "conformance_tools.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace {

/// The exit status.
template <typename End>
int finish(const bawn::contract::Result<End>& end) {
  if (!end) {
    std::fprintf(stderr, "%s\n", end.error().message().c_str());
    return 1;
  }
  if (end->abandoned_calls > 0) {
    std::_Exit(0);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bawn;
  const auto holder = std::make_shared<conformance::ServerHolder>();
  mcp::ServerOptions options{.name = "bawn-conformance",
                             .title = "Conformance fixtures",
                             .version = "1.0",
                             .instructions = "Fixtures for tests.",
                             .logging = true,
                             .any_tool_name = true};
  options.resources = conformance::make_resources();
  options.resource_updates = true;
  options.prompts = conformance::make_prompts();
  options.lists_change = true;
  auto server = mcp::Server::create(std::move(options), conformance::make_tools(holder));
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message().c_str());
    return 2;
  }
  holder->server = *server;
  if (argc > 1 && argv[1] == std::string_view("--stdio")) {
    return finish(mcp::serve_stdio(*server, {}));
  }
  mcp::HttpOptions http;
  http.port = argc > 1 ? static_cast<std::uint16_t>(std::atoi(argv[1])) : std::uint16_t{0};
  if (argc > 2) {
    http.tokens = {{.token = argv[2], .account = "alice"}};
  }
  http.on_ready = [](std::uint16_t port) {
    std::printf("%u\n", static_cast<unsigned>(port));
    std::fflush(stdout);
  };
  return finish(mcp::serve_http(*server, http));
}
