/// \file
/// Asks a running bawn-http whether it serves; for an image's health check.
#pragma once

#include "bawn/contract/error.hpp"

#include <cstdint>
#include <string>

namespace bawn::cli {

/// Sends GET /health and expects the status 200.
///
/// Errors: InvalidArgument (no address); Closed, with what happened instead. Blocking: at most 3 s.
[[nodiscard]] contract::Result<> check_health(const std::string& address, std::uint16_t port);

}  // namespace bawn::cli
