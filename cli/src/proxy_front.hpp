/// \file
/// Somebody else's MCP server, served again on stdin and stdout: for `bawn mcp-proxy`, whichever
/// way the server is reached.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/mcp/client.hpp"

#include <memory>

namespace bawn::cli {

/// What both proxies say of themselves to the server: their name, that their clients may be asked,
/// and where its diagnostics go.
[[nodiscard]] mcp::ClientOptions proxy_client_options();

/// Serves tools, resources, prompts and completions of the client's server until our own client is
/// gone, and closes the client. How many calls were abandoned.
///
/// Errors: what is wrong with the server's lists. Blocking: until the end.
[[nodiscard]] contract::Result<std::size_t> serve_again(const contract::Context& context,
                                                        const std::shared_ptr<mcp::Client>& client);

}  // namespace bawn::cli
