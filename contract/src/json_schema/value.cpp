#include "json_schema/value.hpp"

#include "bawn/contract/quote.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bawn::contract::detail {
namespace {

__extension__ using Wide = unsigned __int128;

/// The absolute value `digits * 10^exponent` of a number: of a double the shortest such value that
/// reads back as that double, which is what somebody wrote.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

Decimal decimal_of(const Json& number) {
  if (number.is_number_unsigned()) {
    return {.digits = number.get<std::uint64_t>()};
  }
  if (number.is_number_integer()) {
    const auto value = number.get<std::int64_t>();
    const auto bits = static_cast<std::uint64_t>(value);
    return {.digits = value < 0 ? 0 - bits : bits};
  }
  std::array<char, 32> text{};  // 17 digits, a point and an exponent
  const char* const end =
      std::to_chars(text.data(), text.data() + text.size(), std::abs(number.get<double>()),
                    std::chars_format::scientific)
          .ptr;
  Decimal decimal;
  const char* at = text.data();
  for (bool fraction = false; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      fraction = true;
    } else {
      decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(*at - '0');
      decimal.exponent -= fraction ? 1 : 0;
    }
  }
  int exponent = 0;
  const bool negative = at[1] == '-';
  std::from_chars(at + 2, end, exponent);
  decimal.exponent += negative ? -exponent : exponent;
  return decimal;
}

}  // namespace

static_assert(std::numeric_limits<long double>::digits >= 64,
              "needs the digits of a 64-bit integer");
long double exactly(const Json& number) {
  if (number.is_number_unsigned()) {
    return static_cast<long double>(number.get<std::uint64_t>());
  }
  return number.is_number_integer() ? static_cast<long double>(number.get<std::int64_t>())
                                    : static_cast<long double>(number.get<double>());
}

bool is_whole(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number() && std::trunc(value.get<double>()) == value.get<double>());
}

bool is_multiple(const Json& value, const Json& factor) {
  const Decimal number = decimal_of(value);
  const Decimal divisor = decimal_of(factor);
  int shift = number.exponent - divisor.exponent;
  if (shift < 0) {
    // The digits must hold the missing tens themselves; there are at most 20 of them.
    Wide needed = divisor.digits;
    for (; shift < 0 && needed <= number.digits; ++shift) {
      needed *= 10;
    }
    return number.digits == 0 || (shift == 0 && number.digits % needed == 0);
  }
  Wide rest = number.digits % divisor.digits;
  for (; shift > 0 && rest != 0; --shift) {
    rest = rest * 10 % divisor.digits;
  }
  return rest == 0;
}

bool json_equal(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) {
    return exactly(left) == exactly(right);
  }
  if (left.type() != right.type() || left.size() != right.size()) {
    return false;
  }
  if (left.is_array()) {
    return std::equal(left.begin(), left.end(), right.begin(), json_equal);
  }
  if (!left.is_object()) {
    return left == right;
  }
  for (auto it = left.begin(); it != left.end(); ++it) {
    const auto other = right.find(it.key());
    if (other == right.end() || !json_equal(it.value(), *other)) {
      return false;
    }
  }
  return true;
}

std::size_t weight(const Json& value) {
  if (value.is_string()) {
    return 1 + value.get_ref<const std::string&>().size() / 64;
  }
  // Members are found one by one.
  std::size_t sum = 1 + (value.is_object() ? value.size() * value.size() / 16 : 0);
  if (value.is_structured()) {
    for (const Json& item : value) {
      sum += weight(item);
    }
  }
  return sum;
}

std::string shown(const Json& value) {
  if (value.is_structured()) {
    return value.is_array() ? "array" : "object";
  }
  return value.is_string() ? quote(text_start(value.get_ref<const std::string&>(), 64))
                           : dump_json(value);
}

std::string shown_list(const Json& values) {
  constexpr std::size_t kMostBytes = 256;
  std::string list;
  for (const Json& value : values) {
    if (list.size() > kMostBytes) {
      list += ", …";
      break;
    }
    list += (list.empty() ? "" : ", ") + shown(value);
  }
  return "[" + list + "]";
}

}  // namespace bawn::contract::detail
