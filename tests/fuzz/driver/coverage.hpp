/// \file
/// Which code an input reached, as GCC's -fsanitize-coverage=trace-pc tells it.
#pragma once

#include <cstddef>

namespace bawn::fuzz {

/// Forgets what was reached. Threads of the target may go on counting meanwhile; that costs
/// accuracy and nothing else.
void reset_coverage() noexcept;

/// True when the code reached since the last reset, or how often it was reached (in powers of two),
/// was never seen before; it counts as seen from then on.
[[nodiscard]] bool take_new_coverage() noexcept;

/// How many places were ever seen; 0 in a program that is not instrumented.
[[nodiscard]] std::size_t places_seen() noexcept;

}  // namespace bawn::fuzz
