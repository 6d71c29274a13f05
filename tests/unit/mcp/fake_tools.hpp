/// \file
/// Tools for the tests of the MCP server, made by hand so that nothing but the server is tested.
#pragma once

#include "bawn/contract/tool.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace bawn::mcp::test {

using ToolFunction =
    std::function<contract::Outcome(const contract::Context&, const contract::Call&)>;

/// A tool that is one function.
class FakeTool final : public contract::Tool {
 public:
  FakeTool(contract::Definition definition, contract::Properties properties, ToolFunction function)
      : Tool(std::move(definition), std::move(properties)), function_(std::move(function)) {}

  [[nodiscard]] contract::Outcome execute(const contract::Context& context,
                                          const contract::Call& call) const override {
    return function_(context, call);
  }

 private:
  ToolFunction function_;
};

[[nodiscard]] inline contract::ToolPtr fake_tool(std::string name, ToolFunction function,
                                                 contract::Properties properties = {}) {
  return std::make_shared<const FakeTool>(
      contract::Definition{
          .name = std::move(name), .description = "A tool for tests.", .parameters = {}},
      std::move(properties), std::move(function));
}

/// Answers with its arguments' text.
[[nodiscard]] inline contract::ToolPtr echo_tool() {
  return fake_tool("echo", [](const contract::Context&, const contract::Call& call) {
    return contract::Outcome(contract::text_result(call.args));
  });
}

}  // namespace bawn::mcp::test
