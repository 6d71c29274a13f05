#include "json_schema/keywords.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

namespace bawn::contract::detail {
namespace {

constexpr std::array kKeywords = std::to_array<std::pair<std::string_view, Form>>({
    {"properties", Form::SchemaMap},
    {"patternProperties", Form::PatternMap},
    {"additionalProperties", Form::Schema},
    {"propertyNames", Form::Schema},
    {"unevaluatedProperties", Form::Schema},
    {"required", Form::Names},
    {"minProperties", Form::Count},
    {"maxProperties", Form::Count},
    {"dependentRequired", Form::NamesMap},
    {"dependentSchemas", Form::SchemaMap},
    {"dependencies", Form::Dependencies},
    {"items", Form::Items},
    {"prefixItems", Form::SchemaList},
    {"additionalItems", Form::Schema},
    {"contains", Form::Schema},
    {"minContains", Form::Count},
    {"maxContains", Form::Count},
    {"unevaluatedItems", Form::Schema},
    {"minItems", Form::Count},
    {"maxItems", Form::Count},
    {"uniqueItems", Form::Flag},
    {"allOf", Form::SchemaList},
    {"anyOf", Form::SchemaList},
    {"oneOf", Form::SchemaList},
    {"not", Form::Schema},
    {"if", Form::Schema},
    {"then", Form::Schema},
    {"else", Form::Schema},
    {"$defs", Form::SchemaMap},
    {"definitions", Form::SchemaMap},
    {"type", Form::Type},
    {"enum", Form::List},
    {"minLength", Form::Count},
    {"maxLength", Form::Count},
    {"pattern", Form::Pattern},
    {"format", Form::Text},
    {"minimum", Form::Number},
    {"maximum", Form::Number},
    {"exclusiveMinimum", Form::Number},
    {"exclusiveMaximum", Form::Number},
    {"multipleOf", Form::Positive},
    {"$ref", Form::Text},
    {"$anchor", Form::Text},
    {"$dynamicRef", Form::Refused},
    {"$recursiveRef", Form::Refused},
});

bool is_type(const Json& value) {
  constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "integer", "number",
                                                      "string", "array",   "object"};
  if (value.is_array()) {
    return !value.empty() && is_names(value) && std::all_of(value.begin(), value.end(), is_type);
  }
  return value.is_string() && std::find(kTypes.begin(), kTypes.end(),
                                        value.get_ref<const std::string&>()) != kTypes.end();
}

bool is_count(const Json& value) {
  return value.is_number() && value.get<double>() >= 0 &&
         std::trunc(value.get<double>()) == value.get<double>();
}

}  // namespace

std::span<const std::pair<std::string_view, Form>> keywords() noexcept {
  return kKeywords;
}

bool is_names(const Json& value) {
  if (!value.is_array()) {
    return false;
  }
  std::set<std::string_view> seen;
  return std::all_of(value.begin(), value.end(), [&](const Json& name) {
    return name.is_string() && seen.insert(name.get_ref<const std::string&>()).second;
  });
}

bool has_plain_form(const Json& value, Form form) {
  switch (form) {
    case Form::Names:
      return is_names(value);
    case Form::List:
      return value.is_array();
    case Form::Type:
      return is_type(value);
    case Form::Count:
      return is_count(value);
    case Form::Number:
      return value.is_number();
    case Form::Positive:
      return value.is_number() && value.get<double>() > 0;
    case Form::Flag:
      return value.is_boolean();
    case Form::Text:
    case Form::Pattern:
      return value.is_string();
    default:
      return false;
  }
}

}  // namespace bawn::contract::detail
