#include "bawn/container/tools.hpp"
#include "bawn/contract/make_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::container {
namespace {

using ::testing::HasSubstr;

struct Args {
  std::string word;
  std::optional<std::string> session;

  static constexpr auto describe() {
    return contract::fields(contract::field("word", &Args::word),
                            contract::field("session", &Args::session));
  }
};

/// Answers with the arguments as they came.
contract::ToolPtr echo() {
  contract::ToolOptions options;
  options.confined = [](const contract::Context&, std::string_view args) {
    contract::Confinement confinement;
    confinement.by = std::string(args);
    return confinement;
  };
  return *contract::make_tool<Args>(
      "echo", "",
      [](const contract::Context&, const contract::Call& call, const Args&) -> contract::Outcome {
        return contract::text_result(call.args);
      },
      std::move(options));
}

std::string answer(const std::string& args) {
  const auto tool = *with_place(echo());
  contract::Call call;
  call.args = args;
  const auto outcome = tool->execute(contract::Context(), call);
  return outcome.error ? outcome.error->message() : contract::output_text(outcome.result);
}

TEST(WithPlaceTest, TheSchemaNamesThePlaceBehindTheSession) {
  const auto tool = *with_place(echo());
  const auto schema = *contract::parse_json(*tool->definition().parameters);
  std::vector<std::string> names;
  for (const auto& [name, value] : schema["properties"].items()) {
    names.push_back(name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("word", "session", "place"));
}

TEST(WithPlaceTest, ACallWithoutAPlaceReachesTheToolByteForByte) {
  EXPECT_EQ(answer(R"({ "word" : "x" })"), R"({ "word" : "x" })");
  EXPECT_EQ(answer(R"({"word":"\"place\""})"), R"({"word":"\"place\""})");
}

TEST(WithPlaceTest, ThePlaceBecomesPartOfTheSession) {
  EXPECT_EQ(answer(R"({"word":"x","place":"box"})"), R"({"word":"x","session":"main@box"})");
  EXPECT_EQ(answer(R"({"session":"s","word":"x","place":"box"})"),
            R"({"session":"s@box","word":"x"})");
  EXPECT_EQ(answer(R"({"word":"x","\u0070lace":"box"})"), R"({"word":"x","session":"main@box"})");
}

TEST(WithPlaceTest, APlaceThatIsNoNameIsRefused) {
  EXPECT_THAT(answer(R"({"word":"x","place":7})"), HasSubstr("invalid arguments: place"));
  EXPECT_THAT(answer(R"({"word":"x","place":"a@b"})"), HasSubstr("invalid arguments"));
}

TEST(WithPlaceTest, PropertiesAnswerForThePlaceToo) {
  const auto tool = *with_place(echo());
  EXPECT_EQ(contract::confined_by(*tool, contract::Context(), R"({"place":"box"})").by, "");
  EXPECT_EQ(tool->properties().confined(contract::Context(), R"({"place":"box"})").by,
            R"({"session":"main@box"})");
}

}  // namespace
}  // namespace bawn::container
