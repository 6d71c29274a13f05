#include "bawn/contract/json_schema.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

std::string verdict(std::string_view schema, std::string_view value) {
  const auto compiled = JsonSchema::compile_text(schema);
  if (!compiled) {
    return "schema: " + compiled.error().message();
  }
  const auto result = compiled->validate(parse_json(value).value());
  return result ? "" : result.error().message();
}

TEST(JsonSchema, NamesPathAndProblem) {
  constexpr std::string_view kSchema =
      R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"integer","minimum":1}}},
          "required":["a"],"additionalProperties":false})";
  EXPECT_EQ(verdict(kSchema, R"({"a":[1,2.0]})"), "");
  EXPECT_EQ(verdict(kSchema, R"({"a":[1,"x"]})"), R"(a[1]: expected integer, got "x")");
  EXPECT_EQ(verdict(kSchema, R"({"a":[0]})"), "a[0]: expected at least 1, got 0");
  EXPECT_EQ(verdict(kSchema, "{}"), R"(missing required property "a")");
  EXPECT_EQ(verdict(kSchema, R"({"a":[],"b":1})"), R"(unexpected property "b")");
  EXPECT_EQ(verdict(kSchema, "[]"), "expected object, got array");
}

TEST(JsonSchema, ChoosesTheDialect) {  // C-51
  constexpr std::string_view kTuple = R"("items":[{"type":"string"}],"additionalItems":false})";
  EXPECT_EQ(
      verdict(R"({"$schema":"http://json-schema.org/draft-07/schema#",)" + std::string(kTuple),
              R"(["a",1])"),
      "[1]: nothing is allowed here");
  EXPECT_THAT(verdict("{" + std::string(kTuple), "[]"), HasSubstr("schema at #/items"));
  EXPECT_EQ(verdict(R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a"])"), "");
  EXPECT_THAT(verdict(R"({"$schema":"http://json-schema.org/draft-04/schema#"})", "1"),
              HasSubstr("unsupported $schema"));
}

TEST(JsonSchema, FollowsLocalReferencesOnly) {  // C-50, C-51
  EXPECT_EQ(verdict(R"({"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"null"}}})", "1"),
            "expected null, got 1");
  EXPECT_EQ(verdict(R"({"$ref":"#name","$defs":{"x":{"$anchor":"name","type":"null"}}})", "null"),
            "");
  EXPECT_THAT(verdict(R"({"$ref":"https://example.com/schema"})", "1"),
              HasSubstr("leaves the document"));
  EXPECT_THAT(verdict(R"({"$ref":"file:///etc/passwd"})", "1"), HasSubstr("leaves the document"));
  EXPECT_THAT(verdict(R"({"$ref":"#/$defs/x"})", "1"), HasSubstr("leads nowhere"));
}

TEST(JsonSchema, PointersAreThoseOfTheirRfc) {  // RFC 6901
  const auto target = [](std::string_view pointer) {
    return verdict(
        fmt::format(R"({{"$ref":"#/x{}","x":{{"a":[true,false],"~":false,"00":false}}}})", pointer),
        "1");
  };
  constexpr std::string_view kFound = "nothing is allowed here";
  EXPECT_EQ(target("/a/0"), "");
  EXPECT_EQ(target("/a/1"), kFound);
  EXPECT_EQ(target("/~0"), kFound);
  EXPECT_EQ(target("/00"), kFound);  // a name, not an index
  for (const std::string_view wrong : {"/a/00", "/a/01", "/a/2", "/a/-", "/a/-0", "/a/+1", "/a/1e0",
                                       "/a/", "/a/ 1", "/~", "/~2", "/~00"}) {
    EXPECT_THAT(target(wrong), HasSubstr("leads nowhere")) << wrong;
  }
}

TEST(JsonSchema, ListsOfNamesHaveEachNameOnce) {
  EXPECT_EQ(verdict(R"({"required":["a","b"]})", "1"), "");
  EXPECT_EQ(verdict(R"({"required":["a","b","a"]})", "1"),
            "schema: schema at #/required: must be a list of names, none of them twice");
  EXPECT_THAT(verdict(R"({"dependentRequired":{"x":["a","a"]}})", "1"), HasSubstr("twice"));
  EXPECT_THAT(verdict(R"({"$schema":"http://json-schema.org/draft-07/schema#",
                          "dependencies":{"x":["a","a"]}})",
                      "1"),
              HasSubstr("twice"));
  EXPECT_THAT(verdict(R"({"type":["null","null"]})", "1"), HasSubstr("schema at #/type"));
  EXPECT_THAT(verdict(R"({"type":[["null"]]})", "1"), HasSubstr("schema at #/type"));
  EXPECT_THAT(verdict(R"({"type":[]})", "1"), HasSubstr("schema at #/type"));
}

TEST(JsonSchema, SentencesTellTheTwoValuesApart) {
  EXPECT_EQ(verdict(R"({"const":[1,"a"]})", R"([1,"b"])"), R"(expected [1, "a"], got [1, "b"])");
  EXPECT_EQ(verdict(R"({"const":{"a":[null]}})", R"({"a":{}})"),
            R"(expected {"a": [null]}, got {"a": {}})");
  EXPECT_EQ(verdict(R"({"const":"a"})", R"(["a"])"), R"(expected "a", got ["a"])");
  EXPECT_EQ(verdict(R"({"enum":[[1],{"a":2}]})", R"([2])"),
            R"(expected one of [[1], {"a": 2}], got [2])");
  std::string same = "[0";
  for (int i = 0; i < 200; ++i) {
    same += ",0";
  }
  EXPECT_THAT(verdict(R"({"const":)" + same + ",1]}", same + ",2]"),
              testing::EndsWith("…, got one that differs further on"));
}

TEST(JsonSchema, SentencesCountOneThingAsOne) {
  EXPECT_EQ(verdict(R"({"minItems":1})", "[]"), "expected at least 1 item, got 0");
  EXPECT_EQ(verdict(R"({"minItems":1.0})", "[]"), "expected at least 1 item, got 0");
  EXPECT_EQ(verdict(R"({"minItems":2})", "[1]"), "expected at least 2 items, got 1");
  EXPECT_EQ(verdict(R"({"maxItems":0})", "[1]"), "expected at most 0 items, got 1");
  EXPECT_EQ(verdict(R"({"minLength":1})", R"("")"), "expected at least 1 character, got 0");
  EXPECT_EQ(verdict(R"({"maxLength":2})", R"("äöü")"), "expected at most 2 characters, got 3");
  EXPECT_EQ(verdict(R"({"minProperties":1})", "{}"), "expected at least 1 property, got 0");
  EXPECT_EQ(verdict(R"({"maxProperties":1})", R"({"a":1,"b":2})"),
            "expected at most 1 property, got 2");
  EXPECT_EQ(verdict(R"({"contains":{"type":"null"}})", "[1]"),
            R"(expected at least 1 item that fits "contains", got 0)");
  EXPECT_EQ(verdict(R"({"contains":{"type":"null"},"minContains":2})", "[null]"),
            R"(expected at least 2 items that fit "contains", got 1)");
  EXPECT_EQ(verdict(R"({"contains":{"type":"null"},"maxContains":1})", "[null,null]"),
            R"(expected at most 1 item that fits "contains", got 2)");
  EXPECT_EQ(verdict(R"({"contains":{"type":"null"},"maxContains":1})", "[]"),
            R"(expected at least 1 item that fits "contains", got 0)");
  EXPECT_EQ(verdict(R"({"contains":{"type":"null"},"minContains":0})", "[]"), "");
  // Draft-07 knows neither bound.
  const std::string old = R"({"$schema":"http://json-schema.org/draft-07/schema#",)";
  EXPECT_EQ(verdict(old + R"("contains":{"type":"null"},"minContains":2})", "[null]"), "");
  EXPECT_EQ(verdict(old + R"("contains":{"type":"null"},"minContains":0})", "[1]"),
            R"(expected at least 1 item that fits "contains", got 0)");
}

TEST(JsonSchema, ARecursiveSchemaFitsATreeOfAnyHonestDepth) {
  constexpr std::string_view kTree =
      R"({"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false})";
  EXPECT_EQ(verdict(kTree, R"({"next":{"next":{}}})"), "");
  EXPECT_EQ(verdict(kTree, R"({"next":{"next":{"x":1}}})"),
            R"(next.next: unexpected property "x")");
}

TEST(JsonSchema, HostileSchemasEnd) {
  EXPECT_THAT(verdict(R"({"$ref":"#"})", "1"), HasSubstr("too complex"));
  EXPECT_THAT(verdict(R"({"not":{"$ref":"#"}})", "1"), HasSubstr("too complex"));
  EXPECT_THAT(verdict(R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})", "1"), HasSubstr("too complex"));
  std::string doubling = R"({"$ref":"#/$defs/d0","$defs":{"d40":false)";
  for (int i = 0; i < 40; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    doubling += ",\"d" + std::to_string(i) + R"(":{"anyOf":[)" + next + "," + next + "]}";
  }
  EXPECT_THAT(verdict(doubling + "}}", "1"), HasSubstr("too complex"));
  EXPECT_EQ(
      verdict(R"({"pattern":"^(a+)+$"})", "\"" + std::string(5000, 'a') + "b\"").substr(0, 14),
      "does not match");
}

TEST(JsonSchema, RefusesWhatItCannotHonour) {
  EXPECT_THAT(verdict(R"x({"pattern":"(?=a)"})x", "1"), HasSubstr("the pattern is not supported"));
  EXPECT_THAT(verdict(R"({"$dynamicRef":"#x"})", "1"), HasSubstr("not supported"));
  EXPECT_THAT(verdict(R"({"properties":{"a":{"$id":"x"}}})", "1"), HasSubstr("nested $id"));
  EXPECT_THAT(verdict(R"({"properties":[]})", "1"), HasSubstr("#/properties: must be an object"));
  EXPECT_THAT(verdict(R"({"type":"strng"})", "1"), HasSubstr("wrong form"));
  EXPECT_THAT(verdict(R"({"anyOf":[]})", "1"), HasSubstr("#/anyOf: must not be empty"));
  EXPECT_THAT(verdict(R"({"multipleOf":0})", "1"), HasSubstr("wrong form"));
  EXPECT_THAT(verdict("[]", "1"), HasSubstr("must be an object, true or false"));
  EXPECT_THAT(verdict(std::string(kMaxSchemaBytes + 1, ' '), "1"), HasSubstr("over the limit"));
}

TEST(JsonSchema, ComparesAsJsonSchemaDoes) {
  EXPECT_EQ(verdict(R"({"const":{"a":1,"b":2}})", R"({"b":2.0,"a":1})"), "");
  EXPECT_EQ(verdict(R"({"enum":[1,"a"]})", "1.0"), "");
  EXPECT_EQ(verdict(R"({"uniqueItems":true})", R"([{"a":1,"b":2},{"b":2,"a":1.0}])"),
            "the items are not all different");
  EXPECT_EQ(verdict(R"({"uniqueItems":true})", R"([1,true,"1",[1]])"), "");
  EXPECT_EQ(verdict(R"({"maxLength":2})", "\"😀é\""), "");
  EXPECT_EQ(verdict(R"({"multipleOf":0.01})", "0.07"), "");
  EXPECT_THAT(verdict(R"({"multipleOf":18446744073709551615})", "-9223372036854775808"),
              HasSubstr("a multiple of"));
}

TEST(JsonSchema, PatternsTakeUnicodeEscapes) {
  EXPECT_EQ(verdict(R"({"pattern":"^\\u00e9\\d+$"})", "\"é42\""), "");
}

TEST(JsonSchema, FormatsAreAssertions) {  // C-50
  const auto passes = [](const std::string& format, const std::string& text) {
    return verdict(R"({"format":")" + format + "\"}", dump_json(Json(text))).empty();
  };
  EXPECT_TRUE(passes("date-time", "2999-01-31T00:00:00Z"));
  EXPECT_FALSE(passes("date-time", "2026-13-01T00:00:00Z"));
  EXPECT_TRUE(passes("date", "0001-02-03"));
  EXPECT_TRUE(passes("time", "23:59:59.1+02:00"));
  EXPECT_FALSE(passes("time", "23:59:59"));
  EXPECT_TRUE(passes("email", "a.b@example.com"));
  EXPECT_FALSE(passes("email", "a b@example.com"));
  EXPECT_TRUE(passes("ipv4", "127.0.0.1"));
  EXPECT_FALSE(passes("ipv4", "127.0.0.256"));
  EXPECT_TRUE(passes("ipv6", "::1"));
  EXPECT_TRUE(passes("uri", "https://example.com/a?b"));
  EXPECT_FALSE(passes("uri", "no scheme"));
  EXPECT_TRUE(passes("uuid", "123e4567-e89b-12d3-a456-426614174000"));
  EXPECT_FALSE(passes("hostname", "-x"));
  EXPECT_TRUE(passes("json-pointer", "/a~1b"));
  EXPECT_FALSE(passes("regex", "("));
  EXPECT_TRUE(passes("made-up", "anything"));
}

TEST(JsonSchema, UnevaluatedMembersSeeThroughCombinations) {
  constexpr std::string_view kSchema =
      R"({"allOf":[{"properties":{"a":true}}],"anyOf":[{"properties":{"b":{"type":"null"}}},true],
          "unevaluatedProperties":false})";
  EXPECT_EQ(verdict(kSchema, R"({"a":1,"b":null})"), "");
  EXPECT_EQ(verdict(kSchema, R"({"a":1,"c":1})"), R"(unexpected property "c")");
}

TEST(JsonSchema, NumbersAreComparedExactly) {
  const auto fits = [](std::string_view schema, std::string_view value) {
    return verdict(schema, value).empty();
  };
  EXPECT_FALSE(fits(R"({"maximum":-1})", "18446744073709551615"));
  EXPECT_FALSE(fits(R"({"maximum":-5})", "9223372036854775808"));
  EXPECT_TRUE(fits(R"({"minimum":-1})", "9223372036854775808"));
  EXPECT_FALSE(fits(R"({"const":-1})", "18446744073709551615"));
  EXPECT_FALSE(fits(R"({"maximum":9007199254740992.0})", "9007199254740993"));
  EXPECT_TRUE(fits(R"({"const":1})", "1.0"));
}

TEST(JsonSchema, MultiplesAreMultiplesAtEverySize) {
  const auto fits = [](std::string_view factor, std::string_view value) {
    return verdict(R"({"multipleOf":)" + std::string(factor) + "}", value).empty();
  };
  EXPECT_TRUE(fits("0.1", "0.3"));
  EXPECT_TRUE(fits("0.5", "1e308"));
  EXPECT_TRUE(fits("10", "0"));
  EXPECT_TRUE(fits("3", "18446744073709551615"));
  EXPECT_FALSE(fits("2", "18446744073709551615"));
  EXPECT_TRUE(fits("1e-8", "12391239123"));
  EXPECT_TRUE(fits("0.0001", "0.0075"));
  EXPECT_TRUE(fits("5e-324", "1e308"));
  EXPECT_TRUE(fits("9223372036854775808", "-9223372036854775808"));
  EXPECT_TRUE(fits("1.5", "-4.5"));
  EXPECT_FALSE(fits("0.123456789", "1e308"));
  EXPECT_FALSE(fits("0.0001", "0.00751"));
  EXPECT_FALSE(fits("1e308", "5e-324"));
  EXPECT_FALSE(fits("0.7", "1"));
  EXPECT_FALSE(fits("1", "1e-12"));
  EXPECT_FALSE(fits("0.1", "0.35"));
  EXPECT_FALSE(fits("3", "1e20"));
}

TEST(JsonSchema, WorkIsBoundedWhateverOneStepCosts) {
  // Ten thousand looks at one value; each keyword's own cost counts.
  std::string shared = R"("$defs":{)";
  for (int level = 0; level < 4; ++level) {
    shared += fmt::format(R"("l{}":{{"allOf":[)", level);
    for (int i = 0; i < 10; ++i) {
      shared += fmt::format(R"({}{{"$ref":"#/$defs/l{}"}})", i == 0 ? "" : ",", level + 1);
    }
    shared += "]},";
  }
  const auto schema = [&](std::string_view leaf) {
    return R"({"$ref":"#/$defs/l0",)" + shared + R"("l4":)" + std::string(leaf) + "}}";
  };
  std::string numbers = "[0";
  std::string members = R"({"m":0)";
  for (int i = 1; i < 2000; ++i) {
    numbers += "," + std::to_string(i);
    members += fmt::format(R"(,"m{}":0)", i);
  }
  EXPECT_NE(verdict(schema(R"({"uniqueItems":true})"), numbers + "]"), "");
  EXPECT_NE(verdict(schema(R"({"minLength":1})"), '"' + std::string(100'000, 'x') + '"'), "");
  EXPECT_NE(verdict(schema(R"({"properties":{},"additionalProperties":true})"), members + "}"), "");
  EXPECT_EQ(verdict(schema(R"({"minLength":1})"), R"("x")"), "");
}

TEST(JsonSchema, SchemasThatAProgramBuiltAreBoundedInDepth) {
  const auto nested = [](int levels) {
    Json schema = true;
    for (int i = 0; i < levels; ++i) {
      schema = Json{{"not", std::move(schema)}};
    }
    return schema;
  };
  EXPECT_TRUE(JsonSchema::compile(nested(100)));
  const auto refused = JsonSchema::compile(nested(5'000));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "the schema is nested deeper than 128 levels");
}

// Words of somebody else's schema go to a model and to terminals.
TEST(JsonSchema, ProblemsAreOneShortPlainLineWhateverTheSchemaHolds) {
  const std::string word = R"(e\u001b[2J\u202e\n\u007f)" + std::string(100'000, 'x') + "é";
  const std::string quoted = "\"" + word + "\"";
  const struct {
    std::string schema;
    std::string value;
  } cases[] = {
      {R"({"enum":[)" + quoted + "]}", "1"},
      {R"({"const":)" + quoted + "}", "1"},
      {R"({"pattern":"\u001b\u202e"})", R"("a")"},
      {R"({"pattern":"()" + word + R"("})", R"("a")"},
      {R"({"format":"date"})", quoted},
      {R"({"required":[)" + quoted + "]}", "{}"},
      {R"({"dependentRequired":{)" + quoted + R"(:["b"]}})", "{" + quoted + ":1}"},
      {R"({"dependentRequired":{)" + quoted + R"(:1}})", "{}"},
      {R"({"additionalProperties":false})", "{" + quoted + ":1}"},
      {R"({"additionalProperties":{"type":"null"}})", "{" + quoted + ":1}"},
      {R"({"propertyNames":false})", "{" + quoted + ":1}"},
      {R"({"not":{}})", quoted},
      {R"({"enum":[[)" + quoted + R"(],{"a":1}]})", "[" + quoted + ",1]"},
      {R"({"const":{)" + quoted + ":" + quoted + "}}", "{" + quoted + ":1}"},
      {R"({"properties":{)" + quoted + R"(:{"type":1}}})", "{}"},
      {R"({"$ref":"#/$defs/)" + word + R"("})", "1"},
      {R"({"$ref":"https://)" + word + R"("})", "1"},
      {R"({"$ref":"#/x/)" + word + R"(","x":{)" + quoted + R"(:{"type":1}}})", "1"},
      {R"({"$schema":)" + quoted + "}", "1"},
      {R"({"type":["null",)" + quoted + "]}", "1"},
  };
  for (const auto& [schema, value] : cases) {
    const std::string problem = verdict(schema, value);
    EXPECT_NE(problem, "") << schema.substr(0, 60);
    EXPECT_LT(problem.size(), 700U) << schema.substr(0, 60);
    EXPECT_EQ(problem.find_first_of("\x1b\n\x7f"), std::string::npos) << schema.substr(0, 60);
    EXPECT_EQ(problem.find("\u202e"), std::string::npos) << schema.substr(0, 60);
    EXPECT_EQ(parse_json(dump_json(problem)).value(), problem) << schema.substr(0, 60);
  }
}

}  // namespace
}  // namespace bawn::contract
