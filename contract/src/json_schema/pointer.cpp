#include "json_schema/pointer.hpp"

#include <algorithm>
#include <string>

namespace bawn::contract::detail {
namespace {

std::string unescape_pointer(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool escape = step[i] == '~' && i + 1 < step.size();
    if (escape && (step[i + 1] == '0' || step[i + 1] == '1')) {
      out += step[++i] == '0' ? '~' : '/';
    } else {
      out += step[i];
    }
  }
  return out;
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

}  // namespace

const Json* follow_pointer(const Json& root, std::string_view fragment) {
  const std::string text = unescape_percent(fragment);
  std::string_view pointer = text;
  const Json* current = &root;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    const std::string step = unescape_pointer(pointer.substr(0, end));
    pointer.remove_prefix(end);
    if (current->is_object()) {
      const auto member = current->find(step);
      if (member == current->end()) {
        return nullptr;
      }
      current = &*member;
    } else if (current->is_array() && !step.empty() && step.size() < 8 &&
               step.find_first_not_of("0123456789") == std::string::npos &&
               std::stoul(step) < current->size()) {
      current = &(*current)[std::stoul(step)];
    } else {
      return nullptr;
    }
  }
  return current;
}

}  // namespace bawn::contract::detail
