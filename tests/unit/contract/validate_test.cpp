#include "bawn/contract/validate.hpp"

#include "bawn/contract/encode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

struct Nested {
  bool deep = false;
  static constexpr auto describe() { return fields(field("deep", &Nested::deep)); }
};

struct Args {
  std::string path;
  std::string level;
  std::optional<int> count;
  std::vector<std::string> tags;
  std::vector<Nested> list;
  int timeout_ms = 0;
  std::map<std::string, int> labels;
  static constexpr auto describe() {
    return fields(field("path", &Args::path),
                  field("level", &Args::level).optional().one_of("low,high"),
                  field("count", &Args::count).one_of("1,2"), field("tags", &Args::tags).optional(),
                  field("list", &Args::list).optional(),
                  field("timeout_ms", &Args::timeout_ms).optional().range(1, 600000),
                  field("labels", &Args::labels).optional());
  }
};

std::string verdict(std::string_view args, SchemaOptions options = {}) {
  const auto result = validate_arguments(schema_of<Args>(options).value(), args);
  return result ? "" : result.error().message();
}

TEST(Validate, AcceptsWhatFits) {
  EXPECT_EQ(verdict(R"({"path":"/x","level":"low","count":2.0,"tags":["a"],"unknown":1})"), "");
  EXPECT_EQ(verdict(R"({"path":"/x","timeout_ms":1e2})"), "");
}

TEST(Validate, MessagesAreExact) {  // C-40, C-42, C-44, C-45
  EXPECT_EQ(verdict(""), R"(invalid arguments: missing required property "path")");
  EXPECT_EQ(verdict(R"({"path":1})"), "invalid arguments: path: expected string, got 1");
  EXPECT_EQ(verdict(R"({"path":"","level":"mid"})"),
            R"(invalid arguments: level: expected one of ["low", "high"], got "mid")");
  EXPECT_EQ(verdict(R"({"path":"","count":1.5})"),
            "invalid arguments: count: expected one of [1, 2], got 1.5");
  EXPECT_EQ(verdict(R"({"path":"","count":null})"),
            "invalid arguments: count: expected integer, got null");
  EXPECT_EQ(verdict(R"({"path":"","tags":["a",2]})"),
            "invalid arguments: tags[1]: expected string, got 2");
  EXPECT_EQ(verdict(R"({"path":"","list":[{"deep":true},{"deep":"x"}]})"),
            R"(invalid arguments: list[1].deep: expected boolean, got "x")");
  EXPECT_EQ(verdict(R"({"path":"","labels":{"b":"1","a":true}})"),
            "invalid arguments: labels.a: expected integer, got true");
  EXPECT_EQ(verdict("[1]"), "invalid arguments: expected object, got array");
  EXPECT_EQ(verdict("1.50e3"), "invalid arguments: expected object, got 1.50e3");
}

TEST(Validate, BoundsAreInclusive) {
  EXPECT_EQ(verdict(R"({"path":"","timeout_ms":0})"),
            "invalid arguments: timeout_ms: expected at least 1, got 0");
  EXPECT_EQ(verdict(R"({"path":"","timeout_ms":600001})"),
            "invalid arguments: timeout_ms: expected at most 600000, got 600001");
  EXPECT_EQ(verdict(R"({"path":"","timeout_ms":600000})"), "");
}

TEST(Validate, UnknownMembersAreRefusedOnlyWhenClosed) {  // C-47
  EXPECT_EQ(verdict(R"({"path":"","bogus":1})"), "");
  EXPECT_EQ(verdict(R"({"path":"","bogus":1})", {.no_additional = true}),
            R"(invalid arguments: unexpected property "bogus")");
  EXPECT_EQ(verdict(R"({"path":"","list":[{"deep":true,"q":1}]})", {.no_additional = true}),
            R"(invalid arguments: list[0]: unexpected property "q")");
}

TEST(Validate, TheFirstProblemInByteOrderIsTold) {  // C-42
  EXPECT_EQ(verdict(R"({"path":1,"level":"mid"})").substr(0, 24), "invalid arguments: level");
}

TEST(Validate, StrangeMemberNamesAreQuotedInPaths) {
  EXPECT_EQ(verdict("{\"path\":\"\",\"labels\":{\"a\\u001b\":true}}"),
            R"(invalid arguments: labels."a\x1b": expected integer, got true)");
}

TEST(Validate, TheProblemIsInThePayload) {
  const auto result = validate_arguments(schema_of<Args>().value(), R"({"path":"","tags":[1]})");
  const auto* problem = result.error().find<ValidationProblem>();
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(problem->path, "tags[0]");
  EXPECT_EQ(problem->message, "expected string, got 1");
}

TEST(Validate, NullAndTypes) {  // C-43
  const auto check = [](Schema schema, std::string_view text) {
    const auto result = validate(schema, *parse_json_node(text));
    return result ? "" : result.error().message().substr(std::string("invalid arguments: ").size());
  };
  Schema nullable{.type = "string", .nullable = true};
  nullable.choices = std::vector<Json>{"a"};
  EXPECT_EQ(check(nullable, "null"), R"(expected one of ["a"], got null)");
  nullable.choices->push_back(nullptr);
  EXPECT_EQ(check(nullable, "null"), "");
  nullable.nullable = false;
  EXPECT_EQ(check(nullable, "null"), "expected string, got null");
  EXPECT_EQ(check({}, "null"), "");
  EXPECT_EQ(check({.type = "null"}, "\"x\""), R"(expected null, got "x")");
  EXPECT_EQ(check({.type = "strng"}, "1"), R"(schema type "strng" is not a JSON Schema type)");
  EXPECT_EQ(check({.type = "integer"}, "2.0"), "");
  EXPECT_EQ(check({.type = "integer"}, "1.5"), "expected integer, got 1.5");
}

}  // namespace
}  // namespace bawn::contract
