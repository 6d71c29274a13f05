/// \file
/// A stranger's program: a tool of its own, called through the installed package.

#include <bawn/contract/make_tool.hpp>
#include <bawn/sandbox/policy.hpp>
#include <cstdio>
#include <string>

namespace {

struct GreetArgs {
  std::string name;
  static constexpr auto describe() {
    return bawn::contract::fields(
        bawn::contract::field("name", &GreetArgs::name).desc("Whom to greet"));
  }
};

}  // namespace

int main() {
  const auto tool = bawn::contract::make_tool<GreetArgs>(
      "greet", "Say hello",
      [](const bawn::contract::Context&, GreetArgs args) { return "hello, " + args.name; });
  if (!tool || !bawn::sandbox::preset("workspace-write")) {
    return 1;
  }
  const auto outcome = (*tool)->execute({}, {.id = "1", .args = R"({"name":"bawn"})"});
  const auto* text = std::get_if<std::string>(&outcome.result.output);
  std::puts(text == nullptr ? "no text" : text->c_str());
  return text != nullptr && *text == "hello, bawn" ? 0 : 1;
}
