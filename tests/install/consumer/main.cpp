/// \file
/// A stranger's program: the samples of docs/contract.md, compiled from that page's own text and
/// run through the installed package. samples.hpp is what install_and_consume.cmake took out of it.
#include "samples.hpp"

#include <bawn/sandbox/policy.hpp>
#include <cstdio>
#include <string>

namespace {

int failures = 0;

void expect(const std::string& got, const std::string& wanted) {
  std::printf("%s\n", got.c_str());
  if (got != wanted) {
    std::printf("  wanted: %s\n", wanted.c_str());
    ++failures;
  }
}

std::string text_of(const Outcome& outcome) {
  return output_text(model_result(outcome));
}

std::string declared(const std::string& args) {
  const auto answer = declared_greet_tool().call({}, args);
  return answer ? dump_json(*answer) : answer.error().message();
}

}  // namespace

int main() {
  const auto tool = greet_tool().value();
  const auto all = greet_everybody(tool, {R"({"name":"a"})", "{}", R"({"name":"b"})"});
  expect(all[0] + all[2], "Hello, a!\nHello, b!\n");
  expect(all[1], R"(Error: invalid arguments: missing required property "name")");

  const auto guarded = guarded_greet_tool().value();
  const std::string no = R"(Error: error: tool "greet" is not authorized)";
  expect(text_of(guarded->execute({}, {.args = R"({"name":"Ann"})"})), "Hello, Ann!\n");
  expect(text_of(guarded->execute({}, {.args = R"({"name":"Mallory"})"})), no);
  // The guard comes before the tool's own validation, and behind that of a binding.
  expect(text_of(guarded->execute({}, {.args = R"({"name":"Mallory","times":11})"})), no);
  expect(text_of(greet_admitted(R"({"name":"Mallory","times":11})")),
         "Error: invalid invocation: invalid arguments: times: expected at most 10, got 11");
  expect(text_of(greet_admitted(R"({"name":"Mallory"})")), no);
  expect(text_of(greet_admitted(R"({"name":"Ann"})")), "Hello, Ann!\n");

  expect(declared(R"({"name":"Ann"})"), R"({"text":"Hello, Ann"})");
  expect(declared(R"({"name":"ann"})"),
         R"(invalid arguments: name: does not match the pattern "^[A-Z][a-z]+$")");
  expect(declared(R"({"name":"Nobody"})"), "invalid arguments: name: there is no such person");

  // Another library of the same package.
  return bawn::sandbox::preset("workspace-write") && failures == 0 ? 0 : 1;
}
