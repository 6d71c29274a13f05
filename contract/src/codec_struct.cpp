#include "bawn/contract/codec_struct.hpp"

#include "bawn/contract/quote.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <cmath>

namespace bawn::contract::detail {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::unexpected<Error> bad_choice(std::string_view item, std::string_view type) {
  return fail(ErrorCode::InvalidArgument,
              fmt::format("enum value {} is not of type {}", quote(item), type));
}

Result<Json> parse_choice(std::string_view item, ShapeType type) {
  if (type == ShapeType::String) {
    return std::string(item);
  }
  const auto value = parse_json(item);
  switch (type) {
    case ShapeType::Boolean:
      return value && value->is_boolean() ? value : bad_choice(item, "boolean");
    case ShapeType::Integer:
      return value && value->is_number_integer() ? value : bad_choice(item, "integer");
    case ShapeType::Number:
      return value && value->is_number() ? value : bad_choice(item, "number");
    default:
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("enum value {} on a type that cannot have one", quote(item)));
  }
}

bool finite(const std::optional<double>& bound) {
  return !bound || std::isfinite(*bound);
}

}  // namespace

Result<std::vector<Json>> parse_choices(std::string_view items, ShapeType type) {
  std::vector<Json> choices;
  for (;;) {
    const auto comma = items.find(',');
    choices.push_back(BAWN_TRY(parse_choice(trimmed(items.substr(0, comma)), type)));
    if (comma == std::string_view::npos) {
      return choices;
    }
    items.remove_prefix(comma + 1);
  }
}

Result<> add_field(Shape& shape, ShapeField field) {
  if (field.name.empty() || !is_utf8(field.name) || !is_utf8(field.description)) {
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("field {}: a name is not empty, and texts are UTF-8", quote(field.name)));
  }
  for (const ShapeField& other : shape.fields) {
    if (other.name == field.name) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("field {} is described twice", quote(field.name)));
    }
  }
  const bool number =
      field.shape.type == ShapeType::Integer || field.shape.type == ShapeType::Number;
  if ((field.minimum || field.maximum) && !number) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("field {} has bounds but is no number", quote(field.name)));
  }
  const bool none_fits = field.minimum && field.maximum && !(*field.minimum <= *field.maximum);
  if (none_fits || !finite(field.minimum) || !finite(field.maximum)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("field {} has bounds that no number fits", quote(field.name)));
  }
  shape.fields.push_back(std::move(field));
  return {};
}

Result<> refuse_unknown(const JsonNode& node, const std::vector<std::string_view>& known,
                        const DecodeState& state) {
  const std::string* first = nullptr;
  for (const auto& [name, value] : node.members) {
    const bool unknown = std::find(known.begin(), known.end(), name) == known.end();
    if (unknown && (first == nullptr || name < *first)) {
      first = &name;
    }
  }
  if (first != nullptr) {
    return state.problem("unexpected property " + quote(text_start(*first, 128)));
  }
  return {};
}

Error missing_member(std::string_view name, const DecodeState& state) {
  return state.problem(fmt::format("missing required property {}", quote(name))).error();
}

}  // namespace bawn::contract::detail
