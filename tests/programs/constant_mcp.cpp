/// \file
/// An MCP server of bawn::mcp with one tool that answers the same at once: what the protocol layer
/// alone costs, for bawn_bench. The tool is called bash so that clients need not know the
/// difference.

#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"

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

}  // namespace

int main() {
  const auto server =
      mcp::Server::create({.name = "constant", .version = "1"}, {std::make_shared<Constant>()});
  return server && mcp::serve_stdio(*server, {}) ? 0 : 1;
}
