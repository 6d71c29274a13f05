/// \file
/// A client over two pipes, with a server on a thread of its own behind them.
#pragma once

#include "bawn/mcp/stdio.hpp"
#include "line_client.hpp"

#include <chrono>
#include <future>
#include <vector>

namespace bawn::mcp::test {

class PipeClient final : public bawn::test::LineClient {
 public:
  /// Serves `tools` with short grace times unless `options` says otherwise.
  explicit PipeClient(std::vector<contract::ToolPtr> tools, ServerOptions server_options = {},
                      StdioOptions options = {.eof_grace = std::chrono::milliseconds(50)});
  ~PipeClient() override;

  /// How serving ended; waits for it.
  StdioEnd end();
  [[nodiscard]] bool has_ended();

 private:
  std::future<contract::Result<StdioEnd>> serving_;
};

}  // namespace bawn::mcp::test
