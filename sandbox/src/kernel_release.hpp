/// \file
/// Compares the text of `uname -r` with a version.
#pragma once

#include <string_view>

namespace bawn::sandbox {

/// True when `release` ("6.14.2-arch1") is at least `major.minor`; false when it cannot be read.
[[nodiscard]] bool kernel_at_least(std::string_view release, int major, int minor) noexcept;

}  // namespace bawn::sandbox
