/// \file
/// A stranger's program: the tool of docs/contract.md, compiled from that page's own text and
/// called through the installed package. newcomer.hpp is what install_and_consume.cmake took out of
/// it.
#include "newcomer.hpp"

#include <bawn/sandbox/policy.hpp>
#include <cstdio>
#include <string>

int main() {
  const auto tool = greet_tool();
  if (!tool || !bawn::sandbox::preset("workspace-write")) {
    return 1;
  }
  const auto outcome = (*tool)->execute({}, {.id = "1", .args = R"({"name":"bawn"})"});
  const std::string text = output_text(outcome.result);
  std::puts(text.c_str());
  return text == "Hello, bawn!\n" ? 0 : 1;
}
