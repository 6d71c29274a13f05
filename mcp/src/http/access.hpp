/// \file
/// Who may send a request at all: Host, Origin and bearer token, looked at before the body is read.
/// Source: MCP, streamable HTTP, security; RFC 6750.
#pragma once

#include "bawn/mcp/http.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// The part of `Host` before the port, in lower case; IPv6 addresses keep their brackets.
[[nodiscard]] std::string host_name(std::string_view host);

/// True for a `Host` that names this machine or is on the list.
[[nodiscard]] bool is_allowed_host(std::string_view host, const HttpOptions& options);

/// True for an `Origin` of http or https whose host is allowed, or that is listed itself.
[[nodiscard]] bool is_allowed_origin(std::string_view origin, const HttpOptions& options);

/// The account of an `Authorization` header; none when it is not one of ours. Every token is
/// compared, each in constant time.
[[nodiscard]] std::optional<std::string> account_of(std::string_view authorization,
                                                    const HttpOptions& options);

/// True when `address` can only be reached from this machine.
[[nodiscard]] bool is_loopback(std::string_view address);

}  // namespace bawn::mcp
