/// \file
/// One connection: requests one after the other, each answered as JSON or as a stream.
#pragma once

#include "http/front.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <memory>

namespace bawn::mcp {

/// TCP or a unix socket.
using HttpSocket = boost::asio::generic::stream_protocol::socket;

/// Serves it to its end. Throws nothing.
[[nodiscard]] boost::asio::awaitable<void> serve_connection(HttpSocket socket,
                                                            std::shared_ptr<HttpFront> front);

}  // namespace bawn::mcp
