#include "json_schema/value.hpp"

#include "bawn/contract/canonical.hpp"
#include "bawn/contract/quote.hpp"
#include "decimal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bawn::contract::detail {
namespace {

__extension__ using Wide = unsigned __int128;

/// The absolute value `digits * 10^exponent` of a number: of a double the shortest such value that
/// reads back as that double, which is what somebody wrote.
struct Scaled {
  std::uint64_t digits = 0;
  int exponent = 0;
};

Scaled scaled(const Json& number) {
  if (number.is_number_unsigned()) {
    return {.digits = number.get<std::uint64_t>()};
  }
  if (number.is_number_integer()) {
    const auto value = number.get<std::int64_t>();
    const auto bits = static_cast<std::uint64_t>(value);
    return {.digits = value < 0 ? 0 - bits : bits};
  }
  const Decimal decimal = shortest_decimal(std::abs(number.get<double>()));
  Scaled result{.exponent = decimal.exponent + 1 - static_cast<int>(decimal.digits.size())};
  std::from_chars(decimal.digits.data(), decimal.digits.data() + decimal.digits.size(),
                  result.digits);
  return result;
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
  const Scaled number = scaled(value);
  const Scaled divisor = scaled(factor);
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

namespace {

constexpr std::size_t kMostBytes = 256;

// Goes on until there is more than is shown. The value is of bounded depth.
void append_whole(std::string& out, const Json& value) {
  if (!value.is_structured()) {
    out += shown(value);
    return;
  }
  out += value.is_array() ? "[" : "{";
  for (auto item = value.begin(); item != value.end() && out.size() <= kMostBytes; ++item) {
    out += item != value.begin() ? ", " : "";
    if (value.is_object()) {
      out += quote(text_start(item.key(), 64)) + ": ";
    }
    append_whole(out, *item);
  }
  out += value.is_array() ? "]" : "}";
}

}  // namespace

std::string shown_whole(const Json& value) {
  std::string text;
  append_whole(text, value);
  return text.size() <= kMostBytes ? text : std::string(text_start(text, kMostBytes)) + "…";
}

std::string shown_list(const Json& values) {
  std::string list;
  for (const Json& value : values) {
    if (list.size() > kMostBytes) {
      list += ", …";
      break;
    }
    list += (list.empty() ? "" : ", ") + shown_whole(value);
  }
  return "[" + list + "]";
}

std::string shown_difference(const Json& wanted, const Json& value) {
  const std::string expected = shown_whole(wanted);
  const std::string got = shown_whole(value);
  return expected == got ? fmt::format("expected {}, got one that differs further on", expected)
                         : fmt::format("expected {}, got {}", expected, got);
}

std::string counted(const Json& number, Noun noun) {
  return fmt::format("{} {}", canonical_number(number.get<double>()),
                     number == 1 ? noun.one : noun.many);
}

}  // namespace bawn::contract::detail
