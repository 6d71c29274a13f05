#include "bawn/mcp/server.hpp"

#include "core.hpp"
#include "peer.hpp"

#include <utility>

namespace bawn::mcp {

using contract::ErrorCode;
using contract::fail;
using contract::Result;

Server::Server(std::shared_ptr<const Core> core) : core_(std::move(core)) {}

namespace {

Result<> check(const ServerOptions& options) {
  constexpr std::size_t kMaxInstructions = 2048;
  if (options.name.empty()) {
    return fail(ErrorCode::InvalidArgument, "the server must have a name");
  }
  if (options.instructions.size() > kMaxInstructions) {
    return fail(ErrorCode::InvalidArgument, "instructions must be at most 2048 bytes");
  }
  return {};
}

}  // namespace

Result<Server> Server::create(ServerOptions options, std::vector<contract::ToolPtr> tools) {
  BAWN_TRY(check(options));
  Catalog catalog =
      BAWN_TRY(Catalog::create(std::move(tools), options.tool_meta, options.any_tool_name));
  return Server(std::make_shared<const Core>(std::move(options), std::move(catalog)));
}

Result<Server> Server::create(ServerOptions options, ToolSource tools) {
  BAWN_TRY(check(options));
  if (!tools) {
    return fail(ErrorCode::InvalidArgument, "the source of the tools is empty");
  }
  return Server(std::make_shared<const Core>(std::move(options), std::move(tools)));
}

void Server::list_changed(ListKind kind) const {
  for (const auto& peer : core_->watchers->all()) {
    peer->list_changed(kind);
  }
}

void Server::resource_updated(const std::string& uri) const {
  for (const auto& peer : core_->watchers->all()) {
    peer->resource_updated(uri);
  }
}

Result<> Server::replace_tools(std::vector<contract::ToolPtr> tools) const {
  core_->replace_catalog(BAWN_TRY(
      Catalog::create(std::move(tools), core_->options.tool_meta, core_->options.any_tool_name)));
  list_changed(ListKind::Tools);
  return {};
}

}  // namespace bawn::mcp
