/// \file
/// The other programs of this version, beside the running one.
#pragma once

#include "bawn/contract/error.hpp"

#include <string>
#include <vector>

namespace bawn::cli {

/// Becomes the program of that name in this program's own folder; `words` are its arguments behind
/// the name. Only returns when that failed.
[[nodiscard]] contract::Error become(const std::string& name, std::vector<std::string> words);

}  // namespace bawn::cli
