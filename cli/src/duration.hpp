/// \file
/// Durations as people write them on a command line.
#pragma once

#include "bawn/contract/error.hpp"

#include <chrono>
#include <string_view>

namespace bawn::cli {

/// Reads "250ms", "30s", "5m", "2h", or a bare number of seconds; more than zero and at most a
/// year.
///
/// Errors: InvalidArgument, with the forms that are understood.
[[nodiscard]] contract::Result<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace bawn::cli
