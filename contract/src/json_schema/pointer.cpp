#include "json_schema/pointer.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace bawn::contract::detail {
namespace {

// None for a tilde that is no escape.
std::optional<std::string> unescape_pointer(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] != '~') {
      out += step[i];
      continue;
    }
    if (++i == step.size() || (step[i] != '0' && step[i] != '1')) {
      return std::nullopt;
    }
    out += step[i] == '0' ? '~' : '/';
  }
  return out;
}

// "0", or digits of which the first is not 0; of so few digits that they fit.
std::optional<std::size_t> array_index(const std::string& step) {
  const bool digits =
      !step.empty() && step.size() < 8 && step.find_first_not_of("0123456789") == std::string::npos;
  return digits && (step == "0" || step[0] != '0') ? std::optional(std::stoul(step)) : std::nullopt;
}

std::string unescape_percent(std::string_view text) {
  const auto digit = [](char letter) {
    const auto at = std::string_view("0123456789abcdef").find(static_cast<char>(letter | 0x20));
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size();
    if (escape && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

const Json* part_of(const Json& value, const std::string& step) {
  if (value.is_object()) {
    const auto member = value.find(step);
    return member != value.end() ? &*member : nullptr;
  }
  const auto index = value.is_array() ? array_index(step) : std::nullopt;
  return index && *index < value.size() ? &value[*index] : nullptr;
}

}  // namespace

const Json* follow_pointer(const Json& root, std::string_view fragment) {
  const std::string text = unescape_percent(fragment);
  std::string_view pointer = text;
  const Json* current = &root;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    const auto step = unescape_pointer(pointer.substr(0, end));
    pointer.remove_prefix(end);
    current = step ? part_of(*current, *step) : nullptr;
    if (current == nullptr) {
      return nullptr;
    }
  }
  return current;
}

}  // namespace bawn::contract::detail
