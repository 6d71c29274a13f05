#include "proxy_front.hpp"

#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"

#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::cli {
namespace {

constexpr const char* kName = "bawn-mcp-proxy";

/// A server of prompts or resources alone has no list of tools.
contract::Result<std::vector<contract::ToolPtr>> tools_of(const contract::Context& context,
                                                          mcp::Client& client) {
  const contract::Json& declared = client.capabilities();
  if (declared.is_object() && !declared.contains("tools")) {
    return std::vector<contract::ToolPtr>();
  }
  return client.tools(context);
}

}  // namespace

mcp::ClientOptions proxy_client_options() {
  mcp::ClientOptions options{.name = kName, .version = BAWN_VERSION};
  options.elicitation = true;
  options.log = [](std::string_view line) {
    std::fprintf(stderr, "bawn mcp-proxy: %.*s\n", static_cast<int>(line.size()), line.data());
  };
  return options;
}

contract::Result<std::size_t> serve_again(const contract::Context& context,
                                          const std::shared_ptr<mcp::Client>& client) {
  constexpr std::size_t kMostInstructions = 2048;
  auto tools = BAWN_TRY(tools_of(context, *client));
  auto features = BAWN_TRY(client->features(context));
  mcp::ServerOptions front{.name = kName,
                           .version = BAWN_VERSION,
                           .instructions = client->instructions().substr(0, kMostInstructions),
                           .any_tool_name = true};
  front.resources = std::move(features.resources);
  front.prompts = std::move(features.prompts);
  const auto server = BAWN_TRY(mcp::Server::create(std::move(front), std::move(tools)));
  const auto end = BAWN_TRY(mcp::serve_stdio(server, {}));
  client->close();
  return end.abandoned_calls;
}

}  // namespace bawn::cli
