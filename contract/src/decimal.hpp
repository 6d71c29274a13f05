/// \file
/// A double in decimal.
#pragma once

#include <string>

namespace bawn::contract::detail {

/// `d.ddd * 10^exponent`, as digits without the point.
struct Decimal {
  std::string digits;
  int exponent = 0;  ///< of the first digit
};

/// The fewest digits, at most 17, that read back as `value`, which is finite and not negative.
[[nodiscard]] Decimal shortest_decimal(double value);

}  // namespace bawn::contract::detail
