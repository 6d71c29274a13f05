/// \file
/// A client over two pipes, with a server on a thread of its own behind them.
#pragma once

#include "bawn/contract/json.hpp"
#include "bawn/mcp/stdio.hpp"

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp::test {

class PipeClient {
 public:
  /// Serves `tools` with short grace times unless `options` says otherwise.
  explicit PipeClient(std::vector<contract::ToolPtr> tools, ServerOptions server_options = {},
                      StdioOptions options = {.eof_grace = std::chrono::milliseconds(50)});
  ~PipeClient();
  PipeClient(const PipeClient&) = delete;
  PipeClient& operator=(const PipeClient&) = delete;

  /// Writes bytes as they are. Blocking while the pipe is full.
  void write(std::string_view bytes);
  void send(std::string_view line) { write(std::string(line) + "\n"); }
  /// The next line as JSON. Fails the test and gives null when none comes in a minute.
  contract::Json receive();
  /// The next line, none when none comes within `milliseconds`.
  std::optional<std::string> try_receive(int milliseconds);
  /// Sends a request and gives the answer to it, skipping other messages.
  contract::Json call(std::string_view request);

  void close_input();
  void close_output();
  /// How serving ended; waits for it.
  StdioEnd end();
  [[nodiscard]] bool has_ended();

 private:
  int to_server_ = -1;
  int from_server_ = -1;
  std::string buffer_;
  std::future<contract::Result<StdioEnd>> serving_;
};

}  // namespace bawn::mcp::test
