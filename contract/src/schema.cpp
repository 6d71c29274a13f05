#include "bawn/contract/schema.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <cmath>

namespace bawn::contract {
namespace {

std::string_view type_name(ShapeType type) {
  switch (type) {
    case ShapeType::Any:
      return "";
    case ShapeType::Boolean:
      return "boolean";
    case ShapeType::Integer:
      return "integer";
    case ShapeType::Number:
      return "number";
    case ShapeType::String:
      return "string";
    case ShapeType::Array:
      return "array";
    case ShapeType::Map:
    case ShapeType::Object:
      return "object";
  }
  return "";
}

class Generator {
 public:
  explicit Generator(const SchemaOptions& options) : options_(options) {}

  Result<Schema> of(const Shape& shape) const {
    Schema schema;
    schema.type = type_name(shape.type);
    schema.format = shape.format;
    if (!shape.choices.empty()) {
      schema.choices = shape.choices;
    }
    switch (shape.type) {
      case ShapeType::Array:
        schema.items = std::make_shared<const Schema>(BAWN_TRY(element_of(shape)));
        break;
      case ShapeType::Map:
        if (options_.strict) {
          return fail(ErrorCode::InvalidArgument, "a strict schema cannot express a map");
        }
        schema.additional = std::make_shared<const Schema>(BAWN_TRY(element_of(shape)));
        break;
      case ShapeType::Object:
        BAWN_TRY(add_fields(schema, shape));
        break;
      default:
        break;
    }
    return schema;
  }

 private:
  Result<Schema> element_of(const Shape& shape) const {
    return shape.element ? of(*shape.element) : Schema{};
  }

  Result<> add_fields(Schema& schema, const Shape& shape) const {
    schema.properties.emplace();
    schema.required.emplace();
    schema.no_additional = options_.strict || options_.no_additional;
    for (const ShapeField& field : shape.fields) {
      auto made = of(field);
      if (!made) {
        return std::unexpected(made.error().wrap(fmt::format("field {}", quote(field.name))));
      }
      schema.properties->emplace_back(field.name, *std::move(made));
      if (options_.strict || !field.optional) {
        schema.required->push_back(field.name);
      }
    }
    return {};
  }

  Result<Schema> of(const ShapeField& field) const {
    Schema schema = BAWN_TRY(of(field.shape));
    schema.description = field.description;
    schema.minimum = field.minimum;
    schema.maximum = field.maximum;
    schema.default_value = field.default_value;
    if (!field.choices.empty()) {
      schema.choices = field.choices;
    }
    // A nullable "any" needs no union: it admits null already.
    if (options_.strict && field.nullable && !schema.type.empty()) {
      schema.nullable = true;
      if (schema.choices) {
        schema.choices->push_back(nullptr);
      }
    }
    return schema;
  }

  const SchemaOptions& options_;
};

// 600000 and not 600000.0.
Json bound_to_json(double bound) {
  constexpr double kExact = 9007199254740992.0;
  if (std::trunc(bound) == bound && std::abs(bound) <= kExact) {
    return static_cast<std::int64_t>(bound);
  }
  return bound;
}

void add_bounds(Json& json, const Schema& schema) {
  if (schema.minimum) {
    json["minimum"] = bound_to_json(*schema.minimum);
  }
  if (schema.maximum) {
    json["maximum"] = bound_to_json(*schema.maximum);
  }
  if (schema.default_value) {
    json["default"] = *schema.default_value;
  }
}

void add_object_words(Json& json, const Schema& schema) {
  if (schema.properties) {
    Json properties = Json::object();
    for (const auto& [name, property] : *schema.properties) {
      properties[name] = to_json(property);
    }
    json["properties"] = std::move(properties);
  }
  if (schema.required) {
    json["required"] = *schema.required;
  }
  if (schema.items) {
    json["items"] = to_json(*schema.items);
  }
  if (schema.no_additional) {
    json["additionalProperties"] = false;
  } else if (schema.additional) {
    json["additionalProperties"] = to_json(*schema.additional);
  }
}

}  // namespace

Result<Schema> make_schema(const Shape& shape, const SchemaOptions& options) {
  if (shape.type != ShapeType::Object) {
    return fail(ErrorCode::InvalidArgument, "arguments must be a struct");
  }
  return Generator(options).of(shape);
}

Json to_json(const Schema& schema) {
  Json json = Json::object();
  if (!schema.type.empty()) {
    json["type"] = schema.nullable ? Json::array({schema.type, "null"}) : Json(schema.type);
  }
  if (!schema.description.empty()) {
    json["description"] = schema.description;
  }
  if (!schema.format.empty()) {
    json["format"] = schema.format;
  }
  if (schema.choices) {
    json["enum"] = *schema.choices;
  }
  add_object_words(json, schema);
  add_bounds(json, schema);
  return json;
}

}  // namespace bawn::contract
