/// \file
/// A server and short ways to call its shell, for the cases that other tools are known to fail.
#pragma once

#include "mcp_server.hpp"

#include <chrono>
#include <string>

namespace bawn::test {

class CasesTest : public McpServerTest {
 protected:
  using Milliseconds = std::chrono::milliseconds;

  /// The structured result of one call; the time it took is in `took`.
  contract::Json result(std::string_view tool, const contract::Json& arguments);
  /// bash with further arguments.
  contract::Json sh(const std::string& command,
                    contract::Json arguments = contract::Json::object());
  contract::Json exec(std::vector<std::string> argv,
                      contract::Json arguments = contract::Json::object());
  /// The call's result once it has ended.
  contract::Json to_end(const contract::Json& begun);
  /// Starts bash text and cancels it once it printed something.
  contract::Json cancelled(const std::string& command);

  Milliseconds took{0};
  /// What no case may come near: hangs last longer by far.
  static constexpr Milliseconds kAtOnce{3000};
};

/// The names of the result's survivors.
std::vector<std::string> survivors(const contract::Json& result);

}  // namespace bawn::test
