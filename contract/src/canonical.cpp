#include "bawn/contract/canonical.hpp"

#include "decimal.hpp"
#include "json_depth.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bawn::contract {
namespace {

Result<std::u16string> to_utf16(std::string_view text) {
  std::u16string units;
  while (!text.empty()) {
    const auto [point, size] = detail::next_code_point(text);
    if (size == 0) {
      return fail(ErrorCode::InvalidArgument, "canonical JSON: text that is not UTF-8");
    }
    if (point >= 0x10000) {
      units += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10));
      units += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF));
    } else {
      units += static_cast<char16_t>(point);
    }
    text.remove_prefix(size);
  }
  return units;
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char letter : text) {
    constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    const std::size_t special = kSpecial.find(letter);
    if (special != std::string_view::npos) {
      out += {'\\', kLetters[special]};
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      out += letter;
    }
  }
  out += '"';
}

class Writer {
 public:
  Result<> write(const Json& value) {
    switch (value.type()) {
      case Json::value_t::object:
        return write_object(value);
      case Json::value_t::array:
        return write_array(value);
      case Json::value_t::string:
        BAWN_TRY(to_utf16(value.get_ref<const std::string&>()));
        append_string(out_, value.get_ref<const std::string&>());
        return {};
      case Json::value_t::boolean:
        out_ += value.get<bool>() ? "true" : "false";
        return {};
      case Json::value_t::number_integer:
      case Json::value_t::number_unsigned:
      case Json::value_t::number_float:
        return write_number(value.get<double>());
      default:
        out_ += "null";
        return {};
    }
  }
  std::string take() { return std::move(out_); }

 private:
  Result<> write_number(double value) {
    if (!std::isfinite(value)) {
      return fail(ErrorCode::InvalidArgument, "canonical JSON: a number that is not finite");
    }
    out_ += canonical_number(value);
    return {};
  }

  Result<> write_array(const Json& array) {
    out_ += '[';
    std::string_view separator;
    for (const Json& item : array) {
      out_ += separator;
      separator = ",";
      BAWN_TRY(write(item));
    }
    out_ += ']';
    return {};
  }

  Result<> write_object(const Json& object) {
    std::vector<std::pair<std::u16string, Json::const_iterator>> members;
    for (auto it = object.begin(); it != object.end(); ++it) {
      members.emplace_back(BAWN_TRY(to_utf16(it.key())), it);
    }
    std::sort(members.begin(), members.end(),
              [](const auto& left, const auto& right) { return left.first < right.first; });
    out_ += '{';
    std::string_view separator;
    for (const auto& [units, member] : members) {
      out_ += separator;
      separator = ",";
      append_string(out_, member.key());
      out_ += ':';
      BAWN_TRY(write(member.value()));
    }
    out_ += '}';
    return {};
  }

  std::string out_;
};

}  // namespace

std::string canonical_number(double value) {
  if (value == 0) {
    return "0";
  }
  const auto [digits, exponent] = detail::shortest_decimal(std::abs(value));
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // digits before the decimal point
  const std::string sign = value < 0 ? "-" : "";
  // The four forms of ECMAScript's Number::toString.
  if (point > 21 || point < -5) {
    const std::string rest = count > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}{}e{}{}", sign, digits[0], rest, exponent < 0 ? "" : "+", exponent);
  }
  if (point <= 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  }
  if (point >= count) {
    return sign + digits + std::string(static_cast<std::size_t>(point - count), '0');
  }
  const auto whole = static_cast<std::size_t>(point);
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

Result<std::string> canonical_json(const Json& value) {
  if (const auto bounded = detail::check_depth(value); !bounded) {
    return std::unexpected(bounded.error().wrap("canonical JSON"));
  }
  Writer writer;
  BAWN_TRY(writer.write(value));
  return writer.take();
}

}  // namespace bawn::contract
