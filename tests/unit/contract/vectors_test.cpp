/// \file
/// The shared vectors of schemas, validation, definitions and canonical JSON.

#include "support/vectors.hpp"

#include "bawn/contract/canonical.hpp"
#include "bawn/contract/definition.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/schema.hpp"
#include "bawn/contract/validate.hpp"
#include "support/requirements.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace bawn::contract {
namespace {

using bawn::test::play_rows;
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
  bawn::test::expect_known_members(json, {"name", "type", "description", "optional", "nullable",
                                          "enum", "format", "items", "values", "fields"});
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
  const auto play = [](const Json& fixture) {
    const std::string name = fixture.at("name");
    const std::string golden = dump_json(vectors("schema/golden/" + name + ".json"));
    if (fixture.contains("supplied")) {
      const std::string supplied = dump_json(fixture.at("supplied"));
      EXPECT_EQ(supplied, golden);
      EXPECT_EQ(make_tool<NoArgs>(name, "", [](const Context&, NoArgs) { return ""; },
                                  {.parameters = supplied})
                    .value()
                    ->definition()
                    .parameters,
                golden);
      return;
    }
    Shape root{.type = ShapeType::Object};
    for (const Json& field : fixture.at("fields")) {
      root.fields.push_back(read_field(field));
    }
    const auto schema = make_schema(root, {.strict = fixture.at("strict")});
    ASSERT_TRUE(schema);
    EXPECT_EQ(dump_json(to_json(*schema)), golden);
  };
  play_rows(manifest.at("fixtures"), {"name", "strict", "source", "fields", "supplied"}, play);
}

Schema read_schema(const Json& json) {
  bawn::test::expect_known_members(
      json, {"type", "enum", "properties", "required", "items", "additionalProperties"});
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
  const auto play = [&](const Json& entry) {
    const Schema schema = read_schema(file.at("schemas").at(entry.at("schema").get<std::string>()));
    const auto result = validate_arguments(schema, entry.at("args").get<std::string>());
    const std::string message = result ? "" : result.error().message();
    const std::string want = entry.at("error");
    if (entry.value("prefix_only", false)) {
      EXPECT_TRUE(message.starts_with(want)) << message;
    } else {
      EXPECT_EQ(message, want);
    }
  };
  play_rows(file.at("cases"), {"name", "origin", "schema", "args", "error", "prefix_only"}, play);
}

TEST(Vectors, DefinitionHashes) {  // C-5
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("definition/hashes.json");
  const auto play = [](const Json& entry) {
    const auto definition = definition_from_json(entry.at("wire"));
    ASSERT_TRUE(definition);
    EXPECT_EQ(canonical_definition(*definition).value(), entry.at("canonical").get<std::string>());
    EXPECT_EQ(definition_hash(*definition).value(), entry.at("hash").get<std::string>());
  };
  play_rows(file.at("vectors"), {"name", "wire", "canonical", "hash"}, play);
}

double double_of(const Json& bits) {
  return std::bit_cast<double>(std::stoull(bits.get<std::string>(), nullptr, 16));
}

TEST(Vectors, CanonicalNumbers) {  // C-5
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("jcs/numbers.json");
  play_rows(file.at("numbers"), {"bits", "want"}, [](const Json& entry) {
    EXPECT_EQ(canonical_number(double_of(entry.at("bits"))), entry.at("want").get<std::string>());
  });
  play_rows(file.at("rejected_bits"), {}, [](const Json& bits) {
    EXPECT_FALSE(canonical_json(Json(double_of(bits)))) << "not a number of JSON";
  });
}

TEST(Vectors, CanonicalTexts) {  // C-5
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("jcs/canonical.json");
  play_rows(file.at("ok"), {"in", "want"}, [](const Json& entry) {
    const auto value = parse_json(entry.at("in").get<std::string>());
    ASSERT_TRUE(value);
    EXPECT_EQ(canonical_json(*value).value(), entry.at("want").get<std::string>());
  });
  play_rows(file.at("errors"), {"in", "why"},
            [](const Json& entry) { EXPECT_FALSE(parse_json(entry.at("in").get<std::string>())); });
}

TEST(Vectors, HashesOfCanonicalRequests) {  // C-5
  BAWN_REQUIRE("shared-vectors");
  play_rows(vectors("jcs/request-hash-vectors.json"), {"name", "request", "hash"},
            [](const Json& entry) {
              EXPECT_EQ("sha256:" + sha256_hex(canonical_json(entry.at("request")).value()),
                        entry.at("hash").get<std::string>());
            });
}

}  // namespace
}  // namespace bawn::contract
