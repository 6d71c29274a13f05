#include "pipe_client.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <utility>

namespace bawn::mcp::test {

PipeClient::PipeClient(std::vector<contract::ToolPtr> tools, ServerOptions server_options,
                       StdioOptions options) {
  auto server = Server::create(std::move(server_options), std::move(tools));
  EXPECT_TRUE(server) << server.error().message();
  const ServerEnds ends = make_pipes();
  options.in_fd = ends.in;
  options.out_fd = ends.out;
  options.take_standard_streams = false;
  options.handle_signals = false;
  options.watch_parent = false;
  serving_ = std::async(std::launch::async, [server = *std::move(server), options] {
    auto end = serve_stdio(server, options);
    ::close(options.in_fd);
    ::close(options.out_fd);
    return end;
  });
}

PipeClient::~PipeClient() {
  close_input();
  close_output();
}

StdioEnd PipeClient::end() {
  auto end = serving_.get();
  EXPECT_TRUE(end) << end.error().message();
  return end.value_or(StdioEnd{});
}

bool PipeClient::has_ended() {
  return serving_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace bawn::mcp::test
