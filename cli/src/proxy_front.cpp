#include "proxy_front.hpp"

#include "bawn/mcp/diagnostics.hpp"
#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"

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
  options.log = mcp::bounded_log("bawn mcp-proxy");
  return options;
}

contract::Result<std::size_t> serve_again(InputEnd& client_end,
                                          const std::shared_ptr<mcp::Client>& client) {
  constexpr std::size_t kMostInstructions = 2048;
  auto tools = BAWN_TRY(tools_of(client_end.context(), *client));
  auto features = BAWN_TRY(client->features(client_end.context()));
  mcp::ServerOptions front{.name = kName,
                           .version = BAWN_VERSION,
                           .instructions = client->instructions().substr(0, kMostInstructions),
                           .any_tool_name = true};
  front.resources = std::move(features.resources);
  front.prompts = std::move(features.prompts);
  const auto server = BAWN_TRY(mcp::Server::create(std::move(front), std::move(tools)));
  client_end.finish();
  const auto end = BAWN_TRY(mcp::serve_stdio(server, {}));
  client->close();
  return end.abandoned_calls;
}

contract::Error explained(const InputEnd& client_end, contract::Error error) {
  return client_end.came() ? contract::Error(contract::ErrorCode::Cancelled,
                                             "the client is gone, and the server had not answered")
                           : std::move(error);
}

}  // namespace bawn::cli
