/// \file
/// What is decided about a request by its headers, before its body is read.
#pragma once

#include "bawn/mcp/http.hpp"
#include "http/request.hpp"

#include <boost/beast/http.hpp>

#include <expected>
#include <string>

namespace bawn::mcp {

using HttpParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

/// The account whose request this is, or what is answered in place of reading on.
[[nodiscard]] std::expected<std::string, HttpReply> admit(const HttpParser& parser,
                                                          const HttpOptions& options);

}  // namespace bawn::mcp
