#include "bawn/contract/codec_types.hpp"

#include <fmt/format.h>

#include <charconv>

namespace bawn::contract::detail {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Reads exactly `width` digits at the front of `text` and removes them.
std::optional<int> take_digits(std::string_view& text, std::size_t width) {
  int value = 0;
  if (text.size() < width) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(0, width);
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + width, value);
  if (error != std::errc() || stop != digits.data() + width || digits.front() == '-') {
    return std::nullopt;
  }
  text.remove_prefix(width);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

std::optional<int> take_number(std::string_view& text, std::size_t width, int least, int most) {
  const auto value = take_digits(text, width);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text) {
  const auto year = take_number(text, 4, 0, 9999);
  const bool dash = take(text, "-");
  const auto month = take_number(text, 2, 1, 12);
  const bool dash_again = take(text, "-");
  const auto day = take_number(text, 2, 1, 31);
  if (!year || !dash || !month || !dash_again || !day) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  return date.ok() ? std::optional<std::chrono::sys_days>(date) : std::nullopt;
}

std::optional<std::chrono::seconds> take_time(std::string_view& text) {
  const auto hour = take_number(text, 2, 0, 23);
  const bool colon = take(text, ":");
  const auto minute = take_number(text, 2, 0, 59);
  const bool colon_again = take(text, ":");
  const auto second = take_number(text, 2, 0, 60);  // 60 is a leap second
  if (!hour || !colon || !minute || !colon_again || !second) {
    return std::nullopt;
  }
  return std::chrono::hours(*hour) + std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

std::optional<std::chrono::nanoseconds> take_fraction(std::string_view& text) {
  if (!take(text, ".")) {
    return std::chrono::nanoseconds(0);
  }
  std::int64_t value = 0;
  std::int64_t unit = 100'000'000;
  bool any = false;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    value += unit * (text.front() - '0');
    unit /= 10;
    any = true;
    text.remove_prefix(1);
  }
  return any ? std::optional(std::chrono::nanoseconds(value)) : std::nullopt;
}

std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take(text, "Zz")) {
    return std::chrono::minutes(0);
  }
  const bool west = text.starts_with('-');
  const bool sign = take(text, "+-");
  const auto hour = take_number(text, 2, 0, 23);
  const bool colon = take(text, ":");
  const auto minute = take_number(text, 2, 0, 59);
  if (!sign || !hour || !colon || !minute) {
    return std::nullopt;
  }
  const auto offset = std::chrono::hours(*hour) + std::chrono::minutes(*minute);
  return west ? -offset : offset;
}

// The time of day in UTC; negative or beyond a day when the offset moves it there.
std::optional<std::chrono::nanoseconds> take_time_and_offset(std::string_view& text) {
  const bool leap = text.size() >= 8 && text.substr(6, 2) == "60";
  const auto time = take_time(text);
  const auto fraction = take_fraction(text);
  const auto offset = take_offset(text);
  if (!time || !fraction || !offset) {
    return std::nullopt;
  }
  // A leap second is 23:59:60 in UTC, which is where the next day begins.
  if (leap && (*time - *offset) % std::chrono::days(1) != std::chrono::seconds(0)) {
    return std::nullopt;
  }
  return *time + *fraction - *offset;
}

struct DateTime {
  std::chrono::sys_days date;
  std::chrono::nanoseconds time;
};

std::optional<DateTime> split_date_time(std::string_view text) {
  const auto date = take_date(text);
  const bool separator = take(text, "Tt ");
  const auto time = take_time_and_offset(text);
  if (!date || !separator || !time || !text.empty()) {
    return std::nullopt;
  }
  return DateTime{*date, *time};
}

}  // namespace

std::string to_base64(const std::vector<std::byte>& bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8) | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= count ? kAlphabet[(group >> (18 - 6 * k)) & 0x3F] : '=';
    }
  }
  return out;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  const std::size_t padding = text.ends_with("==") ? 2 : (text.ends_with('=') ? 1 : 0);
  std::vector<std::byte> out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char letter : text.substr(0, text.size() - padding)) {
    const std::size_t value = kAlphabet.find(letter);
    if (value == std::string_view::npos) {
      return std::nullopt;
    }
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out.push_back(static_cast<std::byte>((bits >> held) & 0xFF));
    }
  }
  return out;
}

std::string to_date_time(Nanoseconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() != 0) {
    text += fmt::format(".{:09}", clock.subseconds().count());
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + "Z";
}

std::optional<Nanoseconds> from_date_time(std::string_view text) {
  const auto parts = split_date_time(text);
  // What nanoseconds since 1970 can hold in 64 bits, in whole years.
  constexpr auto kFirst = std::chrono::sys_days(std::chrono::year(1678) / 1 / 1);
  constexpr auto kLast = std::chrono::sys_days(std::chrono::year(2261) / 12 / 31);
  if (!parts || parts->date < kFirst || parts->date > kLast) {
    return std::nullopt;
  }
  return Nanoseconds(parts->date) + parts->time;
}

bool is_date_time(std::string_view text) {
  return split_date_time(text).has_value();
}

bool is_date(std::string_view text) {
  return take_date(text) && text.empty();
}

bool is_time(std::string_view text) {
  return take_time_and_offset(text) && text.empty();
}

}  // namespace bawn::contract::detail
