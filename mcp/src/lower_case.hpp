/// \file
/// Names of HTTP headers, schemes and media types are compared without regard to case (RFC
/// 9110, 5.1).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// ASCII capitals made small, whatever the locale says; other bytes stay.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

}  // namespace bawn::mcp
