#include "raw_arguments.hpp"

#include "bawn/contract/json.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using bawn::contract::Json;
using bawn::files::text_argument;

TEST(RawArguments, FindsTheMemberOfTheObjectItself) {
  const std::string args =
      R"( { "content" : "a \"path\": \"no\" \\", "x":{"path":"inner"}, "l":["path",{"path":"p"}],)"
      R"( "path" : "d\u0061\/b" , "n": 1e3 } )";
  EXPECT_EQ(text_argument(args, "path"), "da/b");
  EXPECT_EQ(text_argument(args, "n"), std::nullopt);
  EXPECT_EQ(text_argument(args, "inner"), std::nullopt);
  EXPECT_EQ(text_argument(R"({"p\u0061th":"x"})", "path"), "x");
}

TEST(RawArguments, TextsThatAreNoObjectHaveNone) {
  for (const char* args :
       {"", "{}", "[]", "{\"path\"", "{\"path\":", "{\"path\":\"a", "{\"path\" \"a\"}",
        "{\"path\":\"a\\", "null", "{\"path\":[\"a\"}", "\"path\"", "{,}", "{\"a\":1,"}) {
    EXPECT_EQ(text_argument(args, "path"), std::nullopt) << args;
  }
}

TEST(RawArguments, AgreesWithAWholeReadingOfRandomObjects) {
  std::mt19937 random(5);
  const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  const auto text = [&] {
    std::string made;
    for (int i = pick(12); i-- > 0;) {
      made += "\"\\{}[],:ae\n"[pick(10)];
    }
    return made;
  };
  for (int round = 0; round < 500; ++round) {
    Json object = Json::object();
    for (int members = pick(5); members-- > 0;) {
      const std::string key = pick(3) == 0 ? "path" : text();
      object[key] = pick(2) == 0   ? Json(text())
                    : pick(1) == 0 ? Json::array({text(), 1, Json{{"path", text()}}})
                                   : Json(pick(9));
    }
    const std::string args = bawn::contract::dump_json(object);
    const auto whole = bawn::contract::parse_json(args);
    ASSERT_TRUE(whole);
    const Json member = whole->value("path", Json());
    EXPECT_EQ(text_argument(args, "path"),
              member.is_string() ? std::optional(member.get<std::string>()) : std::nullopt)
        << args;
  }
}

}  // namespace
