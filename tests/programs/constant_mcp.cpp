/// \file
/// An MCP server of bawn::mcp with one tool that answers the same at once: what the protocol layer
/// alone costs, for bawn_bench. The tool is called bash so that clients need not know the
/// difference. Built twice: on stdio, and over HTTP with its address on standard error.

#include "bawn/mcp/server.hpp"
#ifdef BAWN_CONSTANT_HTTP
#include "bawn/mcp/http.hpp"
#else
#include "bawn/mcp/stdio.hpp"
#endif

#include <cstdio>
#include <memory>
#include <utility>

namespace {

using namespace bawn;

class Constant final : public contract::Tool {
 public:
  Constant()
      : Tool(
            {.name = "bash",
             .description = "Answers ok.",
             .parameters =
                 R"({"type":"object","properties":{"command":{"type":"string"}},"required":["command"]})"},
            {}) {}

  contract::Outcome execute(const contract::Context& /*context*/,
                            const contract::Call& /*call*/) const override {
    return contract::text_result("ok");
  }
};

#ifdef BAWN_CONSTANT_HTTP
bool serve(const mcp::Server& server) {
  mcp::HttpOptions options;
  options.on_ready = [](std::uint16_t port) {
    std::fprintf(stderr, "serving at http://127.0.0.1:%u/mcp\n", static_cast<unsigned>(port));
  };
  return mcp::serve_http(server, options).has_value();
}
#else
bool serve(const mcp::Server& server) {
  return mcp::serve_stdio(server, {}).has_value();
}
#endif

}  // namespace

int main() {
  const auto server =
      mcp::Server::create({.name = "constant", .version = "1"}, {std::make_shared<Constant>()});
  return server && serve(*server) ? 0 : 1;
}
