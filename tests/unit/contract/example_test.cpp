/// \file
/// The example of docs/contract.md.
#include "bawn/contract/make_tool.hpp"

#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

struct GreetArgs {
  std::string name;
  int times = 1;
  static constexpr auto describe() {
    return fields(field("name", &GreetArgs::name).desc("Whom to greet"),
                  field("times", &GreetArgs::times).with_default().range(1, 10));
  }
};

Result<ToolPtr> greet_tool() {
  return make_tool<GreetArgs>("greet", "Greets somebody", [](const Context&, GreetArgs args) {
    std::string text;
    for (int i = 0; i < args.times; ++i) {
      text += "Hello, " + args.name + "!\n";
    }
    return text;
  });
}

TEST(Example, TheFirstToolDoesWhatItsPageSays) {
  const ToolPtr tool = greet_tool().value();
  EXPECT_EQ(output_text(tool->execute({}, {.args = R"({"name":"Ann","times":2})"}).result),
            "Hello, Ann!\nHello, Ann!\n");
  EXPECT_EQ(tool->execute({}, {.args = R"({"name":"Ann","times":11})"}).error->message(),
            "invalid arguments: times: expected at most 10, got 11");
}

}  // namespace
}  // namespace bawn::contract
