/// \file
/// Reads files of /proc and /etc whole.
#pragma once

#include <string>

namespace bawn::sandbox {

/// The file's bytes; empty when it cannot be read.
[[nodiscard]] std::string read_small_file(const char* path);

}  // namespace bawn::sandbox
