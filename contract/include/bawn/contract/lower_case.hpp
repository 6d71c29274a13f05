/// \file
/// Names that are compared without regard to case: HTTP headers, schemes and media types (RFC 9110,
/// 5.1), capabilities, people.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace bawn::contract {

/// ASCII capitals made small, whatever the locale says; other bytes stay.
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

}  // namespace bawn::contract
