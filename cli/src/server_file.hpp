/// \file
/// Whose file it is: the servers' files in the runtime directory are named after the process that
/// writes them.
#pragma once

#include "bawn/os/process_identity.hpp"

#include <optional>
#include <string_view>

namespace bawn::cli {

/// From "<pid>-<start time>.jsonl", or the same with ".1" behind it for the older half.
[[nodiscard]] std::optional<os::ProcessIdentity> server_of(std::string_view file_name);

}  // namespace bawn::cli
