/// \file
/// Tools for the tests of the MCP server, made by hand so that nothing but the server is tested.
#pragma once

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/tool.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
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

/// Says who calls and in which session.
[[nodiscard]] inline contract::ToolPtr whoami() {
  return fake_tool("whoami", [](const contract::Context& context, const contract::Call&) {
    const auto* const session = contract::session_from(context);
    const auto* const caller = contract::caller_from(context);
    return contract::Outcome(contract::text_result((caller ? caller->account : "nobody") + "/" +
                                                   (session ? *session : "no session")));
  });
}

/// Waits until its context ends, and says that it has begun.
class Hanging {
 public:
  contract::ToolPtr tool(std::string name = "hang") {
    return fake_tool(
        std::move(name),
        [this](const contract::Context& context, const contract::Call&) -> contract::Outcome {
          std::unique_lock lock(mutex_);
          ++begun_;
          changed_.notify_all();
          changed_.wait(lock, context.stop_token(), [] { return false; });
          ++ended_;
          changed_.notify_all();
          return contract::text_result("interrupted");
        });
  }
  void wait_until_begun(int count = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= count; });
  }
  void wait_until_ended(int count = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int begun_ = 0;
  int ended_ = 0;
};

}  // namespace bawn::mcp::test
