/// \file
/// `WWW-Authenticate`. Source: RFC 9110, 11.6.1; RFC 6750, 3; RFC 9728, 5.1.
#pragma once

#include "bawn/mcp/http_client.hpp"

#include <string_view>

namespace bawn::mcp {

/// The Bearer challenge in a header's value. Parameters of other schemes are skipped.
[[nodiscard]] AuthorizationChallenge read_challenge(int status, std::string_view header);

}  // namespace bawn::mcp
