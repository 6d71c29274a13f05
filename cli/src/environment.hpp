/// \file
/// This process's environment as a value.
#pragma once

#include <string>
#include <vector>

namespace bawn::cli {

/// Every "NAME=value" that this process was started with.
[[nodiscard]] std::vector<std::string> own_environment();

}  // namespace bawn::cli
