#include "json_schema/format.hpp"

#include "bawn/contract/codec_types.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace bawn::contract::detail {
namespace {

bool is_all(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view kHex = "0123456789abcdefABCDEF";
constexpr std::string_view kWord =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";

bool is_hostname(std::string_view text) {
  if (text.empty() || text.size() > 253) {
    return false;
  }
  while (true) {
    const std::string_view label = text.substr(0, text.find('.'));
    if (label.empty() || label.size() > 63 || !is_all(label, kWord) || label.front() == '-' ||
        label.back() == '-') {
      return false;
    }
    if (label.size() == text.size()) {
      return true;
    }
    text.remove_prefix(label.size() + 1);
  }
}

bool is_email(std::string_view text) {
  const auto at = text.rfind('@');
  const std::string_view local = text.substr(0, std::min(at, text.size()));
  const bool dots =
      local.starts_with('.') || local.ends_with('.') || local.find("..") != std::string_view::npos;
  return at != std::string_view::npos && at > 0 && at <= 64 && !dots &&
         local.find_first_of(" @\t\r\n<>()[],;:\\\"") == std::string_view::npos &&
         is_hostname(text.substr(at + 1));
}

// A scheme and no characters that a URI may not have; RFC 3986's finer grammar is not checked.
bool is_uri(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 ||
      std::isalpha(static_cast<unsigned char>(text.front())) == 0) {
    return false;
  }
  const bool scheme = std::all_of(
      text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '+' || letter == '-' || letter == '.';
      });
  return scheme && std::none_of(text.begin(), text.end(), [](unsigned char letter) {
           return letter <= 0x20 || letter >= 0x7F ||
                  std::string_view("<>\"{}|\\^`").find(static_cast<char>(letter)) !=
                      std::string_view::npos;
         });
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : kHex.find(text[i]) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

bool is_address(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return text.find('\0') == std::string::npos &&
         ::inet_pton(family, text.c_str(), address.data()) == 1;
}

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text.front() != '/') {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool has_format(std::string_view format, const std::string& text) {
  using Check = bool (*)(const std::string&);
  static constexpr auto kChecks = std::to_array<std::pair<std::string_view, Check>>({
      {"date-time", [](const std::string& value) { return is_date_time(value); }},
      {"date", [](const std::string& value) { return is_date(value); }},
      {"time", [](const std::string& value) { return is_time(value); }},
      {"email", [](const std::string& value) { return is_email(value); }},
      {"hostname", [](const std::string& value) { return is_hostname(value); }},
      {"ipv4", [](const std::string& value) { return is_address(AF_INET, value); }},
      {"ipv6", [](const std::string& value) { return is_address(AF_INET6, value); }},
      {"uri", [](const std::string& value) { return is_uri(value); }},
      {"uuid", [](const std::string& value) { return is_uuid(value); }},
      {"json-pointer", [](const std::string& value) { return is_json_pointer(value); }},
      {"regex", [](const std::string& value) { return compile_pattern(value) != nullptr; }},
  });
  const auto* const check = std::find_if(kChecks.begin(), kChecks.end(),
                                         [&](const auto& entry) { return entry.first == format; });
  return check == kChecks.end() || check->second(text);
}

std::unique_ptr<re2::RE2> compile_pattern(std::string_view pattern) {
  std::string translated;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool escape = pattern[i] == '\\' && i + 1 < pattern.size();
    const std::string_view digits = escape ? pattern.substr(i + 2, 4) : std::string_view();
    if (escape && pattern[i + 1] == 'u' && digits.size() == 4 && is_all(digits, kHex)) {
      translated += "\\x{" + std::string(digits) + "}";
      i += 5;
    } else if (escape) {
      translated += pattern.substr(i, 2);
      ++i;
    } else {
      translated += pattern[i];
    }
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(
      1 << 20);  // bytes; what is larger takes long to compile, and is no honest one
  auto compiled = std::make_unique<re2::RE2>(translated, options);
  return compiled->ok() ? std::move(compiled) : nullptr;
}

}  // namespace bawn::contract::detail
