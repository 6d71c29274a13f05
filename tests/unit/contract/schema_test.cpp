#include "bawn/contract/schema.hpp"

#include "bawn/contract/encode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

using testing::HasSubstr;

enum class Level { Low, High };
constexpr std::array<EnumName<Level>, 2> describe_enum(Level) {
  return {{{"low", Level::Low}, {"high", Level::High}}};
}

struct Inner {
  bool deep = false;
  static constexpr auto describe() { return fields(field("deep", &Inner::deep)); }
};

struct Base {
  std::string id;
  static constexpr auto describe() { return fields(field("id", &Base::id).desc("An id")); }
};

struct Everything : Base {
  std::optional<int> limit;
  int timeout_ms = 120000;
  Level level = Level::Low;
  std::string mode;
  Json raw;
  std::vector<Inner> list;
  std::map<std::string, int> labels;
  std::chrono::sys_seconds when;
  Inner inner;
  static constexpr auto describe() {
    return fields(
        embed<Base>(), field("limit", &Everything::limit).desc("Most results").one_of("1, 2"),
        field("timeout_ms", &Everything::timeout_ms).with_default().range(1, 600000),
        field("level", &Everything::level), field("mode", &Everything::mode).one_of("a,b"),
        field("raw", &Everything::raw).optional(), field("list", &Everything::list),
        field("labels", &Everything::labels), field("when", &Everything::when),
        field("inner", &Everything::inner));
  }
};

TEST(Schema, MembersComeInTheFixedOrder) {  // C-20, C-21, C-22, C-23, C-24
  EXPECT_EQ(
      schema_text_of<Everything>().value(),
      R"({"type":"object","properties":{"id":{"type":"string","description":"An id"},)"
      R"("limit":{"type":"integer","description":"Most results","enum":[1,2]},)"
      R"("timeout_ms":{"type":"integer","minimum":1,"maximum":600000,"default":120000},)"
      R"("level":{"type":"string","enum":["low","high"]},"mode":{"type":"string","enum":["a","b"]},)"
      R"("raw":{},"list":{"type":"array","items":{"type":"object","properties":{"deep":{"type":"boolean"}},"required":["deep"]}},)"
      R"("labels":{"type":"object","additionalProperties":{"type":"integer"}},)"
      R"("when":{"type":"string","format":"date-time"},)"
      R"("inner":{"type":"object","properties":{"deep":{"type":"boolean"}},"required":["deep"]}},)"
      R"("required":["id","level","mode","list","labels","when","inner"]})");
}

TEST(Schema, NoArgumentsIsTheServedConstant) {  // C-4
  EXPECT_EQ(schema_text_of<NoArgs>().value(), kNoArgsSchema);
}

struct StrictArgs {
  std::string query;
  std::optional<int> limit;
  std::optional<Json> any;
  std::vector<Inner> list;
  int page = 1;
  static constexpr auto describe() {
    return fields(field("query", &StrictArgs::query),
                  field("limit", &StrictArgs::limit).one_of("1,2"), field("any", &StrictArgs::any),
                  field("list", &StrictArgs::list), field("page", &StrictArgs::page).optional());
  }
};

TEST(Schema, StrictRequiresAllAndClosesEveryObject) {  // C-25, C-26
  EXPECT_EQ(
      schema_text_of<StrictArgs>({.strict = true}).value(),
      R"({"type":"object","properties":{"query":{"type":"string"},)"
      R"("limit":{"type":["integer","null"],"enum":[1,2,null]},"any":{},)"
      R"("list":{"type":"array","items":{"type":"object","properties":{"deep":{"type":"boolean"}},"required":["deep"],"additionalProperties":false}},)"
      R"("page":{"type":"integer"}},"required":["query","limit","any","list","page"],"additionalProperties":false})");
}

TEST(Schema, NoAdditionalClosesEveryObjectWithoutRequiringMore) {
  EXPECT_EQ(
      schema_text_of<StrictArgs>({.no_additional = true}).value(),
      R"({"type":"object","properties":{"query":{"type":"string"},)"
      R"("limit":{"type":"integer","enum":[1,2]},"any":{},)"
      R"("list":{"type":"array","items":{"type":"object","properties":{"deep":{"type":"boolean"}},"required":["deep"],"additionalProperties":false}},)"
      R"("page":{"type":"integer"}},"required":["query","list"],"additionalProperties":false})");
}

struct Node {
  std::vector<Node> children;
  static constexpr auto describe() { return fields(field("children", &Node::children)); }
};
struct ThroughBase;
struct BaseOfIt {
  std::vector<ThroughBase> more;
  static constexpr auto describe() { return fields(field("more", &BaseOfIt::more)); }
};
struct ThroughBase : BaseOfIt {
  static constexpr auto describe() { return fields(embed<BaseOfIt>()); }
};
struct ThroughMap {
  std::map<std::string, std::vector<ThroughMap>> more;
  static constexpr auto describe() { return fields(field("more", &ThroughMap::more)); }
};
struct BadEnum {
  int count = 0;
  static constexpr auto describe() { return fields(field("count", &BadEnum::count).one_of("1,x")); }
};
struct EnumOnList {
  std::vector<int> list;
  static constexpr auto describe() { return fields(field("list", &EnumOnList::list).one_of("1")); }
};
struct Twice : Base {
  std::string other;
  static constexpr auto describe() { return fields(embed<Base>(), field("id", &Twice::other)); }
};
struct BoundedText {
  std::string text;
  static constexpr auto describe() { return fields(field("text", &BoundedText::text).at_least(1)); }
};
struct HasMap {
  std::map<std::string, int> map;
  static constexpr auto describe() { return fields(field("map", &HasMap::map)); }
};

template <class T>
std::string refusal(SchemaOptions options = {}) {
  const auto text = schema_text_of<T>(options);
  return text ? "accepted" : text.error().message();
}

TEST(Schema, RefusesWhatCannotBeExpressed) {  // C-25, C-27, C-28, C-29
  EXPECT_THAT(refusal<Node>(), HasSubstr("recursive"));
  EXPECT_THAT(refusal<ThroughBase>(), HasSubstr("recursive"));
  EXPECT_THAT(refusal<ThroughMap>(), HasSubstr("recursive"));
  EXPECT_THAT(refusal<BadEnum>(), HasSubstr("enum value \"x\""));
  EXPECT_THAT(refusal<EnumOnList>(), HasSubstr("enum value"));
  EXPECT_THAT(refusal<Twice>(), HasSubstr("field \"id\" is described twice"));
  EXPECT_THAT(refusal<BoundedText>(), HasSubstr("has bounds but is no number"));
  EXPECT_THAT(refusal<HasMap>({.strict = true}), HasSubstr("strict"));
  EXPECT_EQ(refusal<HasMap>(), "accepted");
  EXPECT_THAT(make_schema(Shape{.type = ShapeType::String}).error().message(),
              HasSubstr("must be a struct"));
}

TEST(Schema, AHandBuiltSchemaOmitsWhatItDoesNotSay) {  // C-30
  EXPECT_EQ(dump_json(to_json(Schema{})), "{}");
  Schema both{.type = "object"};
  both.additional = std::make_shared<const Schema>(Schema{.type = "string"});
  EXPECT_EQ(dump_json(to_json(both)),
            R"({"type":"object","additionalProperties":{"type":"string"}})");
  both.no_additional = true;
  EXPECT_EQ(dump_json(to_json(both)), R"({"type":"object","additionalProperties":false})");
}

}  // namespace
}  // namespace bawn::contract
