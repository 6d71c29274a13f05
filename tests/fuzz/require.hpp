/// \file
/// How a fuzz target states what must hold.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace bawn::fuzz {

/// Ends the process, as every finding does, when `holds` is false.
inline void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
  }
}

}  // namespace bawn::fuzz
