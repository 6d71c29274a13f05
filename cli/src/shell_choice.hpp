/// \file
/// Which shell sessions have, from the command line's word for it.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/shell/session.hpp"

#include <string>

namespace bawn::cli {

/// "auto", "bash", "sh", or an absolute path: as bash when its last part begins with "bash", as sh
/// otherwise.
///
/// Errors: InvalidArgument.
[[nodiscard]] contract::Result<> choose_shell(const std::string& word,
                                              shell::SessionConfig& config);

}  // namespace bawn::cli
