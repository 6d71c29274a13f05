#include "json_text.hpp"

#include "bawn/contract/json_plain.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace bawn::mcp {
namespace {

using contract::Json;

void append_escape(std::string& text, char c) {
  switch (c) {
    case '"':
      text += "\\\"";
      break;
    case '\\':
      text += "\\\\";
      break;
    case '\b':
      text += "\\b";
      break;
    case '\f':
      text += "\\f";
      break;
    case '\n':
      text += "\\n";
      break;
    case '\r':
      text += "\\r";
      break;
    case '\t':
      text += "\\t";
      break;
    default:
      fmt::format_to(std::back_inserter(text), "\\u{:04x}", static_cast<unsigned>(c));
  }
}

void append_object(std::string& text, const Json& value) {
  char separator = '{';
  for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
    text += separator;
    separator = ',';
    append_string(text, name);
    text += ':';
    append_json(text, member);
  }
  text += separator == '{' ? "{}" : "}";
}

void append_array(std::string& text, const Json& value) {
  char separator = '[';
  for (const Json& element : value.get_ref<const Json::array_t&>()) {
    text += separator;
    separator = ',';
    append_json(text, element);
  }
  text += separator == '[' ? "[]" : "]";
}

}  // namespace

void append_string(std::string& text, std::string_view value) {
  const std::size_t begin = text.size();
  text += '"';
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::size_t plain = contract::plain_json_length(rest);
    text += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) {
      break;
    }
    const std::size_t length = utf8_length(rest);
    if (length == 0) {
      // How many U+FFFD a broken sequence becomes is for the library to say.
      text.resize(begin);
      text += contract::dump_json(Json(value));
      return;
    }
    if (length == 1) {
      append_escape(text, rest[0]);
    } else {
      text += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  text += '"';
}

void append_json(std::string& text, const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      append_object(text, value);
      break;
    case Json::value_t::array:
      append_array(text, value);
      break;
    case Json::value_t::string:
      append_string(text, value.get_ref<const std::string&>());
      break;
    case Json::value_t::boolean:
      text += value.get<bool>() ? "true" : "false";
      break;
    case Json::value_t::number_integer:
      fmt::format_to(std::back_inserter(text), "{}", value.get<std::int64_t>());
      break;
    case Json::value_t::number_unsigned:
      fmt::format_to(std::back_inserter(text), "{}", value.get<std::uint64_t>());
      break;
    default:
      text += contract::dump_json(value);
  }
}

}  // namespace bawn::mcp
