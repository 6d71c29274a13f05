/// \file
/// Suggests the known word that a wrong one was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

/// "; did you mean \"x\"?" with the word of `known` that takes the fewest edits, or "" when none is
/// near (more than a third of its letters, and more than two, would have to change).
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& known);

}  // namespace bawn::sandbox
