#include "bawn/mcp/server.hpp"

#include "core.hpp"

#include <utility>

namespace bawn::mcp {

using contract::ErrorCode;
using contract::fail;

Server::Server(std::shared_ptr<const Core> core) : core_(std::move(core)) {}

contract::Result<Server> Server::create(ServerOptions options,
                                        std::vector<contract::ToolPtr> tools) {
  constexpr std::size_t kMaxInstructions = 2048;
  if (options.name.empty()) {
    return fail(ErrorCode::InvalidArgument, "the server must have a name");
  }
  if (options.instructions.size() > kMaxInstructions) {
    return fail(ErrorCode::InvalidArgument, "instructions must be at most 2048 bytes");
  }
  Catalog catalog = BAWN_TRY(Catalog::create(std::move(tools), options.tool_meta));
  return Server(std::make_shared<const Core>(std::move(options), std::move(catalog)));
}

}  // namespace bawn::mcp
