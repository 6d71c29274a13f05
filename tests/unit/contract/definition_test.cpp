#include "bawn/contract/definition.hpp"

#include "bawn/contract/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

Definition read_wire(std::string_view text) {
  return definition_from_json(*parse_json(text)).value();
}

TEST(Definition, ServesTheConstantForAbsentParameters) {  // C-4
  const Definition definition{.name = "status"};
  EXPECT_EQ(parameters_of(definition), R"({"type":"object","properties":{},"required":[]})");
  EXPECT_EQ(
      dump_json(*to_json(definition)),
      R"({"type":"function","name":"status","description":"","parameters":{"type":"object","properties":{},"required":[]}})");
}

TEST(Definition, WritesStrictOnlyWhenStrict) {  // C-3
  EXPECT_FALSE(to_json(Definition{.name = "x"})->contains("strict"));
  EXPECT_EQ(to_json(Definition{.name = "x", .strict = true})->at("strict"), true);
}

TEST(Definition, HashIgnoresWhatAModelCannotTell) {  // C-5
  const auto same = definition_hash(read_wire(R"({"name":"x"})")).value();
  EXPECT_EQ(same, definition_hash(Definition{.name = "x"}).value());
  EXPECT_EQ(same, definition_hash(read_wire(
                      R"({"strict":false,"parameters":null,"description":"","name":"x"})")));
  EXPECT_EQ(same,
            definition_hash(Definition{.name = "x", .parameters = std::string(kNoArgsSchema)}));
  EXPECT_THAT(same, testing::StartsWith("sha256:"));
  EXPECT_EQ(same.size(), 7U + 64U);
}

TEST(Definition, HashTellsDifferentToolsApart) {
  const auto hash = [](std::string_view text) { return definition_hash(read_wire(text)).value(); };
  const auto base = hash(R"({"name":"x","parameters":{"required":["a","b"]}})");
  EXPECT_NE(base, hash(R"({"name":"x","parameters":{"required":["b","a"]}})"));
  EXPECT_NE(base, hash(R"({"name":"x","description":"d","parameters":{"required":["a","b"]}})"));
  EXPECT_NE(base, hash(R"({"name":"x","strict":true,"parameters":{"required":["a","b"]}})"));
}

TEST(Definition, RefusesAWireFormOfWrongTypes) {
  for (const std::string_view text :
       {"[]", "{}", R"({"name":""})", R"({"name":1})", R"({"name":"x","type":"tool"})",
        R"({"name":"x","description":1})", R"({"name":"x","parameters":"{}"})",
        R"({"name":"x","strict":"yes"})"}) {
    EXPECT_FALSE(definition_from_json(*parse_json(text))) << text;
  }
}

TEST(Definition, RefusesParametersThatAreNoObject) {
  EXPECT_FALSE(to_json(Definition{.name = "x", .parameters = "[]"}));
  EXPECT_THAT(to_json(Definition{.name = "x", .parameters = "{"}).error().message(),
              testing::StartsWith("tool \"x\": parameters: not valid JSON"));
}

}  // namespace
}  // namespace bawn::contract
