/// \file
/// The server that both transports offer: `bawn mcp` on stdio, `bawn-http` over HTTP.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/mcp/server.hpp"
#include "own_tools.hpp"

namespace bawn::cli {

/// The tools of `own`, which are moved from, with the outputs of their calls as resources.
[[nodiscard]] contract::Result<mcp::Server> make_server(OwnTools& own);

/// The exit status of a program that served, after the sessions were closed. Does not return when
/// `abandoned_calls` still use the tools.
[[nodiscard]] int finish_serving(const OwnTools& own, std::size_t abandoned_calls);

}  // namespace bawn::cli
