/// \file
/// Names that nobody can guess.
#pragma once

#include <cstddef>
#include <string>

namespace bawn::shell {

/// `length` ASCII letters from the kernel's random source, 5.7 bits each.
///
/// Blocking: only before the kernel's source is seeded. Source: getrandom(2).
[[nodiscard]] std::string random_name(std::size_t length);

}  // namespace bawn::shell
