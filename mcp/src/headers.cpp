#include "headers.hpp"

#include "bawn/contract/json.hpp"
#include "json_rpc.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace bawn::mcp {
namespace {

constexpr std::string_view kPrefix = "=?base64?";
constexpr std::string_view kSuffix = "?=";
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view value) {
  while (!value.empty() && is_blank(value.front())) {
    value.remove_prefix(1);
  }
  while (!value.empty() && is_blank(value.back())) {
    value.remove_suffix(1);
  }
  return value;
}

bool is_encoded(std::string_view value) {
  return value.size() >= kPrefix.size() + kSuffix.size() && value.starts_with(kPrefix) &&
         value.ends_with(kSuffix);
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

/// The parameter that `Mcp-Name` repeats; none for methods without one.
std::optional<std::string_view> named_parameter(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") {
    return "name";
  }
  if (method == "resources/read") {
    return "uri";
  }
  return std::nullopt;
}

std::optional<std::string> differs(std::string_view header, const std::optional<std::string>& came,
                                   std::string_view what, std::string_view expected) {
  if (!came) {
    return fmt::format("{} is missing but {} is {}", header, what, shown(expected));
  }
  const auto value = decode_header(*came);
  if (!value) {
    return fmt::format("{} is not valid base64 of UTF-8 text", header);
  }
  if (*value != expected) {
    return fmt::format("{} is {} but {} is {}", header, shown(*value), what, shown(expected));
  }
  return std::nullopt;
}

/// Numbers are equal by value: `42` and `42.0` are.
bool same_number(std::string_view header, const contract::Json& value) {
  const auto number = contract::parse_json(header);
  return number && number->is_number() && *number == value;
}

std::optional<std::string> one_parameter(const MirroredProperty& mirrored,
                                         const contract::Json& arguments, const HttpFacts& http) {
  const auto header = http.parameters.find(mirrored.header);
  const auto value = arguments.find(mirrored.property);
  const auto text = value == arguments.end() ? std::nullopt : mirrored_text(*value);
  if (!text) {
    return std::nullopt;
  }
  const std::optional<std::string> came =
      header == http.parameters.end() ? std::nullopt : std::optional(header->second);
  if (came && value->is_number() && same_number(trimmed(*came), *value)) {
    return std::nullopt;
  }
  return differs(mirrored.header, came, "the argument " + mirrored.property, *text);
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t group = 0;
    std::size_t padding = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const char c = text[at + i];
      const auto digit = kDigits.find(c);
      const bool last = at + 4 == text.size();
      if (c == '=' && last && i >= 2) {
        ++padding;
        group <<= 6U;
        continue;
      }
      if (digit == std::string_view::npos || padding > 0) {
        return std::nullopt;
      }
      group = group << 6U | static_cast<std::uint32_t>(digit);
    }
    const std::uint32_t stray = padding == 2 ? group & 0xFFFFU : padding == 1 ? group & 0xFFU : 0;
    if (stray != 0) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < 3 - padding; ++i) {
      bytes += static_cast<char>(group >> (16 - 8 * i) & 0xFFU);
    }
  }
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8U | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= count ? kDigits[group >> (18 - 6 * i) & 0x3FU] : '=';
    }
  }
  return text;
}

std::optional<std::string> decode_header(std::string_view value) {
  value = trimmed(value);
  if (!is_encoded(value)) {
    return std::string(value);
  }
  value.remove_prefix(kPrefix.size());
  value.remove_suffix(kSuffix.size());
  auto bytes = decode_base64(value);
  return bytes && is_utf8(*bytes) ? bytes : std::nullopt;
}

std::string encode_header(std::string_view value) {
  const bool plain = std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; }) &&
                     trimmed(value) == value && !is_encoded(value);
  return plain ? std::string(value) : fmt::format("{}{}{}", kPrefix, encode_base64(value), kSuffix);
}

std::optional<std::string> mirrored_text(const contract::Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_boolean() || value.is_number()) {
    return contract::dump_json(value);
  }
  return std::nullopt;
}

std::optional<std::string> header_mismatch(std::string_view method, const RawObject& params,
                                           const HttpFacts& http) {
  if (auto wrong = differs("Mcp-Method", http.method_header, "the method", method)) {
    return wrong;
  }
  const auto parameter = named_parameter(method);
  if (!parameter) {
    return std::nullopt;
  }
  const auto value = params.find(*parameter);
  const auto name = value ? string_of(*value) : std::nullopt;
  if (!name) {
    return std::nullopt;  // the method's own check refuses it
  }
  return differs("Mcp-Name", http.name_header, fmt::format("params.{}", *parameter), *name);
}

std::optional<std::string> parameter_mismatch(const CatalogEntry& entry, std::string_view arguments,
                                              const HttpFacts& http) {
  if (entry.mirrored.empty()) {
    return std::nullopt;
  }
  const auto parsed = contract::parse_json(arguments);
  if (!parsed || !parsed->is_object()) {
    return std::nullopt;
  }
  for (const MirroredProperty& mirrored : entry.mirrored) {
    if (auto wrong = one_parameter(mirrored, *parsed, http)) {
      return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace bawn::mcp
