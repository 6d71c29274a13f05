/// \file
/// The shared vectors of schemas, validation, definitions and canonical JSON.

#include "support/vectors.hpp"

#include "bawn/contract/canonical.hpp"
#include "bawn/contract/definition.hpp"
#include "bawn/contract/schema.hpp"
#include "bawn/contract/validate.hpp"
#include "support/requirements.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace bawn::contract {
namespace {

using bawn::test::vectors;

ShapeType type_named(const std::string& name) {
  const std::vector<std::pair<std::string, ShapeType>> types = {
      {"boolean", ShapeType::Boolean}, {"integer", ShapeType::Integer},
      {"number", ShapeType::Number},   {"string", ShapeType::String},
      {"array", ShapeType::Array},     {"map", ShapeType::Map},
      {"object", ShapeType::Object},   {"any", ShapeType::Any}};
  for (const auto& [text, type] : types) {
    if (text == name) {
      return type;
    }
  }
  ADD_FAILURE() << "unknown type " << name;
  return ShapeType::Any;
}

Shape read_shape(const Json& json);

ShapeField read_field(const Json& json) {
  ShapeField field{.name = json.at("name")};
  field.description = json.value("description", "");
  field.optional = json.value("optional", false);
  field.nullable = json.value("nullable", false);
  if (json.contains("enum")) {
    field.choices = json.at("enum").get<std::vector<Json>>();
  }
  field.shape = read_shape(json);
  return field;
}

Shape read_shape(const Json& json) {
  Shape shape{.type = type_named(json.at("type"))};
  shape.format = json.value("format", "");
  for (const char* key : {"items", "values"}) {
    if (json.contains(key)) {
      shape.element = std::make_shared<const Shape>(read_shape(json.at(key)));
    }
  }
  if (json.contains("fields")) {
    for (const Json& field : json.at("fields")) {
      shape.fields.push_back(read_field(field));
    }
  }
  return shape;
}

TEST(Vectors, SchemasEqualTheGoldensInMemberOrderToo) {  // C-31
  BAWN_REQUIRE("shared-vectors");
  const Json manifest = vectors("schema/manifest.json");
  int compared = 0;
  for (const Json& fixture : manifest.at("fixtures")) {
    if (!fixture.contains("fields")) {
      continue;  // a supplied schema is served as it is
    }
    const std::string name = fixture.at("name");
    Shape root{.type = ShapeType::Object};
    for (const Json& field : fixture.at("fields")) {
      root.fields.push_back(read_field(field));
    }
    const auto schema = make_schema(root, {.strict = fixture.at("strict")});
    ASSERT_TRUE(schema) << name;
    EXPECT_EQ(dump_json(to_json(*schema)), dump_json(vectors("schema/golden/" + name + ".json")))
        << name;
    ++compared;
  }
  EXPECT_GE(compared, 13);
}

Schema read_schema(const Json& json) {
  Schema schema;
  if (json.contains("type")) {
    const Json& type = json.at("type");
    schema.nullable = type.is_array();
    schema.type = type.is_array() ? type.at(0) : type;
  }
  if (json.contains("enum")) {
    schema.choices = json.at("enum").get<std::vector<Json>>();
  }
  if (json.contains("properties")) {
    schema.properties.emplace();
    for (const auto& [name, property] : json.at("properties").items()) {
      schema.properties->emplace_back(name, read_schema(property));
    }
  }
  if (json.contains("required")) {
    schema.required = json.at("required").get<std::vector<std::string>>();
  }
  if (json.contains("items")) {
    schema.items = std::make_shared<const Schema>(read_schema(json.at("items")));
  }
  if (json.contains("additionalProperties")) {
    const Json& additional = json.at("additionalProperties");
    schema.no_additional = additional == false;
    if (additional.is_object()) {
      schema.additional = std::make_shared<const Schema>(read_schema(additional));
    }
  }
  return schema;
}

TEST(Vectors, ValidationMessagesAreExact) {  // C-40..C-47
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("validation/cases.json");
  for (const Json& entry : file.at("cases")) {
    const Schema schema = read_schema(file.at("schemas").at(entry.at("schema").get<std::string>()));
    const auto result = validate_arguments(schema, entry.at("args").get<std::string>());
    const std::string message = result ? "" : result.error().message();
    const std::string want = entry.at("error");
    if (entry.value("prefix_only", false)) {
      EXPECT_TRUE(message.starts_with(want)) << message;
    } else {
      EXPECT_EQ(message, want) << entry.at("name");
    }
  }
}

TEST(Vectors, DefinitionHashes) {  // C-5
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("definition/hashes.json");
  for (const Json& entry : file.at("vectors")) {
    const auto definition = definition_from_json(entry.at("wire"));
    ASSERT_TRUE(definition) << entry.at("name");
    EXPECT_EQ(canonical_definition(*definition).value(), entry.at("canonical").get<std::string>());
    EXPECT_EQ(definition_hash(*definition).value(), entry.at("hash").get<std::string>());
  }
}

TEST(Vectors, CanonicalNumbers) {
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("jcs/numbers.json");
  for (const Json& entry : file.at("numbers")) {
    const auto bits = std::stoull(entry.at("bits").get<std::string>(), nullptr, 16);
    EXPECT_EQ(canonical_number(std::bit_cast<double>(bits)), entry.at("want").get<std::string>());
  }
}

TEST(Vectors, CanonicalTexts) {
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("jcs/canonical.json");
  for (const Json& entry : file.at("ok")) {
    const auto value = parse_json(entry.at("in").get<std::string>());
    ASSERT_TRUE(value) << entry.at("in");
    EXPECT_EQ(canonical_json(*value).value(), entry.at("want").get<std::string>());
  }
  for (const Json& entry : file.at("errors")) {
    EXPECT_FALSE(parse_json(entry.at("in").get<std::string>())) << entry.at("why");
  }
}

TEST(Vectors, HashesOfCanonicalRequests) {
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("jcs/request-hash-vectors.json");
  for (const Json& entry : file) {
    EXPECT_EQ("sha256:" + sha256_hex(canonical_json(entry.at("request")).value()),
              entry.at("hash").get<std::string>())
        << entry.at("name");
  }
}

}  // namespace
}  // namespace bawn::contract
