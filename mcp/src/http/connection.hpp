/// \file
/// One TCP connection: requests one after the other, each answered as JSON or as a stream.
#pragma once

#include "http/front.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <memory>

namespace bawn::mcp {

/// Serves it to its end. Throws nothing.
[[nodiscard]] boost::asio::awaitable<void> serve_connection(boost::asio::ip::tcp::socket socket,
                                                            std::shared_ptr<HttpFront> front);

}  // namespace bawn::mcp
