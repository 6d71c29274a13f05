#include "raw_arguments.hpp"

#include "bawn/contract/json.hpp"
#include "bawn/contract/json_plain.hpp"

namespace bawn::files {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// Behind the string that begins at `at`, its quotes included; kNone when it has no end.
std::size_t string_end(std::string_view text, std::size_t at) {
  const std::size_t end = at + 1 + contract::json_string_size(text.substr(at + 1));
  return end < text.size() ? end + 1 : kNone;
}

/// Behind the value that begins at `at`: before the comma or brace that follows it.
std::size_t value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  while ((at = text.find_first_of("\"{}[],", at)) != kNone) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      if (at == kNone) {
        return kNone;
      }
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}')) {
      return at;
    }
    depth += c == '{' || c == '[' ? 1 : c == ',' ? 0 : -1;
    ++at;
  }
  return kNone;
}

std::optional<std::string> as_string(std::string_view text) {
  const auto parsed = contract::parse_json(text);
  return parsed && parsed->is_string() ? std::optional(parsed->get<std::string>()) : std::nullopt;
}

}  // namespace

std::optional<std::string> text_argument(std::string_view args, std::string_view name) {
  std::size_t at = args.find('{');
  while (at != kNone) {
    const std::size_t key = args.find('"', at);
    const std::size_t key_end = key == kNone ? kNone : string_end(args, key);
    const std::size_t colon = key_end == kNone ? kNone : args.find(':', key_end);
    const std::size_t end = colon == kNone ? kNone : value_end(args, colon + 1);
    if (end == kNone) {
      return std::nullopt;
    }
    if (as_string(args.substr(key, key_end - key)) == name) {
      return as_string(args.substr(colon + 1, end - colon - 1));
    }
    at = args[end] == ',' ? end : kNone;
  }
  return std::nullopt;
}

}  // namespace bawn::files
