// type, enum, const; the bounds of numbers; the length, pattern and format of strings.

#include "bawn/contract/quote.hpp"
#include "json_schema/evaluation.hpp"
#include "json_schema/format.hpp"
#include "json_schema/value.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::contract::detail {
namespace {

bool has_type(const Json& value, std::string_view type) {
  switch (value.type()) {
    case Json::value_t::null:
      return type == "null";
    case Json::value_t::boolean:
      return type == "boolean";
    case Json::value_t::string:
      return type == "string";
    case Json::value_t::array:
      return type == "array";
    case Json::value_t::object:
      return type == "object";
    default:
      return type == "number" || (type == "integer" && is_whole(value));
  }
}

bool check_type(Evaluation& run, const Json& type, const Json& value) {
  const auto fits = [&](const Json& name) {
    return has_type(value, name.get_ref<const std::string&>());
  };
  if (type.is_array() ? std::any_of(type.begin(), type.end(), fits) : fits(type)) {
    return true;
  }
  const std::string wanted = type.is_array() ? dump_json(type) : type.get<std::string>();
  return run.problem(fmt::format("expected {}, got {}", wanted, shown(value)));
}

bool check_enum(Evaluation& run, const Json& choices, const Json& value) {
  if (!run.spend(choices.size() / 16 + (value.is_structured() ? weight(choices) : 0))) {
    return false;
  }
  return std::any_of(choices.begin(), choices.end(),
                     [&](const Json& choice) { return json_equal(choice, value); }) ||
         run.problem(
             fmt::format("expected one of {}, got {}", shown_list(choices), shown_whole(value)));
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(std::max<std::size_t>(1, next_code_point(text).size));
    ++count;
  }
  return count;
}

bool check_length(Evaluation& run, const Json& schema, const std::string& text) {
  if (keyword(schema, "minLength") == nullptr && keyword(schema, "maxLength") == nullptr) {
    return true;
  }
  return run.spend(text.size() / 64) &&
         check_size(run, schema, "minLength", "maxLength", count_code_points(text),
                    {"character", "characters"});
}

bool check_pattern(Evaluation& run, const std::string& pattern, const std::string& text) {
  return (run.spend(text.size() / 16) && run.matches(pattern, text)) ||
         run.problem("does not match the pattern " + quote(text_start(pattern, 128)));
}

bool check_format(Evaluation& run, const Json& format, const Json& value) {
  const auto& text = value.get_ref<const std::string&>();
  // A pattern of a few bytes can take a long time to compile.
  if (!run.spend(format == "regex" ? Evaluation::kMaxSteps / 25 : text.size() / 16)) {
    return false;
  }
  return has_format(format.get_ref<const std::string&>(), text) ||
         run.problem(fmt::format("expected the format {}, got {}", shown(format), shown(value)));
}

}  // namespace

bool check_generic(Evaluation& run, const Json& schema, const Json& value) {
  const Json* const type = keyword(schema, "type");
  const Json* const choices = keyword(schema, "enum");
  if ((type != nullptr && !check_type(run, *type, value)) ||
      (choices != nullptr && !check_enum(run, *choices, value))) {
    return false;
  }
  const Json* const constant = keyword(schema, "const");
  if (constant == nullptr) {
    return true;
  }
  return run.spend(weight(*constant)) &&
         (json_equal(*constant, value) || run.problem(shown_difference(*constant, value)));
}

bool check_number(Evaluation& run, const Json& schema, const Json& value) {
  if (!value.is_number()) {
    return true;
  }
  const auto bounded = [&](std::string_view name, std::string_view text, auto fits) {
    const Json* const bound = keyword(schema, name);
    return bound == nullptr || fits(value, *bound) ||
           run.problem(fmt::format("expected {} {}, got {}", text, shown(*bound), shown(value)));
  };
  using J = const Json&;
  return bounded("minimum", "at least", [](J v, J b) { return exactly(v) >= exactly(b); }) &&
         bounded("maximum", "at most", [](J v, J b) { return exactly(v) <= exactly(b); }) &&
         bounded("exclusiveMinimum", "more than",
                 [](J v, J b) { return exactly(v) > exactly(b); }) &&
         bounded("exclusiveMaximum", "less than",
                 [](J v, J b) { return exactly(v) < exactly(b); }) &&
         bounded("multipleOf", "a multiple of", is_multiple);
}

bool check_string(Evaluation& run, const Json& schema, const Json& value) {
  if (!value.is_string()) {
    return true;
  }
  const auto& text = value.get_ref<const std::string&>();
  const Json* const pattern = keyword(schema, "pattern");
  const Json* const format = keyword(schema, "format");
  return check_length(run, schema, text) &&
         (pattern == nullptr || check_pattern(run, pattern->get_ref<const std::string&>(), text)) &&
         (format == nullptr || check_format(run, *format, value));
}

bool check_size(Evaluation& run, const Json& schema, std::string_view least, std::string_view most,
                std::size_t size, Noun unit) {
  const auto count = static_cast<double>(size);
  if (const Json* bound = keyword(schema, least); bound && count < bound->get<double>()) {
    return run.problem(fmt::format("expected at least {}, got {}", counted(*bound, unit), size));
  }
  if (const Json* bound = keyword(schema, most); bound && count > bound->get<double>()) {
    return run.problem(fmt::format("expected at most {}, got {}", counted(*bound, unit), size));
  }
  return true;
}

}  // namespace bawn::contract::detail
