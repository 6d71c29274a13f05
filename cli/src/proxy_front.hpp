/// \file
/// Somebody else's MCP server, served again on stdin and stdout: for `bawn mcp-proxy`, whichever
/// way the server is reached.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/mcp/client.hpp"
#include "input_end.hpp"

#include <memory>

namespace bawn::cli {

/// What both proxies say of themselves to the server: their name, that their clients may be asked,
/// and where its diagnostics go.
[[nodiscard]] mcp::ClientOptions proxy_client_options();

/// Serves tools, resources, prompts and completions of the client's server until our own client is
/// gone, and closes the client. How many calls were abandoned. `client_end` is watched until the
/// server's lists are there.
///
/// Errors: what is wrong with the server's lists. Blocking: until the end.
[[nodiscard]] contract::Result<std::size_t> serve_again(InputEnd& client_end,
                                                        const std::shared_ptr<mcp::Client>& client);

/// What to say of a failure: that our own client was gone, where that is why.
[[nodiscard]] contract::Error explained(const InputEnd& client_end, contract::Error error);

}  // namespace bawn::cli
