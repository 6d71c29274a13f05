/// \file
/// Names of shell variables (POSIX.1-2017, XBD 3.235).
#pragma once

#include <algorithm>
#include <string_view>

namespace bawn::shell {

/// ASCII letters, digits and underscores, no digit first.
[[nodiscard]] inline bool is_variable_name(std::string_view text) noexcept {
  const auto letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  return !text.empty() && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace bawn::shell
