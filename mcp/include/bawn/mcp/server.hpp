/// \file
/// An MCP server over a list of tools. What it answers does not depend on how the messages travel;
/// `stdio.hpp` serves it over a pair of descriptors.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/failure.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/resource.hpp"
#include "bawn/contract/tool.hpp"
#include "bawn/mcp/prompt.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// Everything about a server that its host decides. The defaults suit one client on one machine.
struct ServerOptions {
  std::string name = "bawn";   ///< `serverInfo.name`, never empty
  std::string title{};         ///< `serverInfo.title`, left out when empty
  std::string version = "0";   ///< `serverInfo.version`
  std::string instructions{};  ///< for the model, most important facts first; at most 2 KiB
  /// How much of a tool's error its caller is told; what is withheld is written to the log.
  contract::ErrorDisclosure disclosure = contract::ErrorDisclosure::Full;
  /// Declares the legacy `logging` capability and answers `logging/setLevel`. Log lines go to the
  /// log in either case.
  bool logging = false;

  /// Takes every tool name that MCP allows, as somebody else's tools have, instead of only those
  /// that all hosts and models take.
  bool any_tool_name = false;

  std::size_t max_parallel_calls = 64;  ///< calls that run at once; each has a thread while it runs
  std::size_t max_queued_calls = 64;    ///< calls that wait for a thread; beyond: a "busy" result
  /// One result on the wire, in bytes. Clients close a connection above 10 MiB a line.
  std::size_t max_result_bytes = (10U << 20U) - (64U << 10U);
  std::chrono::milliseconds list_ttl = std::chrono::hours(1);  ///< `ttlMs` of lists
  std::chrono::milliseconds progress_first =
      std::chrono::seconds(2);  ///< silence before a sign of life
  std::chrono::milliseconds progress_every = std::chrono::seconds(5);  ///< and between further ones

  /// How long a call waits for the answers that its tool asked the client for.
  std::chrono::milliseconds ask_timeout = std::chrono::minutes(5);
  std::size_t max_rounds = 10;         ///< requests of a client for one call, the first included
  std::size_t max_waiting_calls = 32;  ///< calls that wait for answers at the same time

  /// Served as resources; null: the server has none.
  std::shared_ptr<const contract::ResourceProvider> resources{};
  bool resource_updates = false;  ///< Server::resource_updated() will be called
  std::vector<Prompt> prompts{};
  /// The lists change while the server runs, and Server::list_changed() will be called.
  bool lists_change = false;

  /// Further members of single tools' `_meta`, by tool name, e.g. a host's own size limits.
  std::map<std::string, contract::Json> tool_meta{};

  /// Receives diagnostics, one plain line each, never with a call's arguments or output. Must not
  /// block. Empty: written to descriptor 2, at a limited rate, and dropped when that would block.
  std::function<void(std::string_view)> log{};
};

class Core;

/// Makes a server's tools when they are needed for the first time. May be called again after it
/// failed; never twice at once.
using ToolSource = std::function<contract::Result<std::vector<contract::ToolPtr>>()>;

/// Which list a client may have a stale copy of.
enum class ListKind { Tools, Prompts, Resources };

/// A set of tools with the protocol around it. Copies share one immutable core.
///
/// Threads: thread-safe.
class Server {
 public:
  /// Registers all the tools or none.
  ///
  /// Errors: InvalidArgument for a null tool, a name that is not `^[a-z][a-z0-9_]{0,31}$` (with
  /// ServerOptions::any_tool_name: `^[A-Za-z0-9_.-]{1,128}$`), two
  /// tools of one name, a schema that is not a JSON object with `type: "object"` at its root, an
  /// empty server name, or instructions over 2 KiB.
  [[nodiscard]] static contract::Result<Server> create(ServerOptions options,
                                                       std::vector<contract::ToolPtr> tools);
  /// The same over tools that are made with the first list or call of them, so that the first
  /// answer need not wait for their schemas. What is wrong with a tool is then the error of the
  /// requests that need them.
  [[nodiscard]] static contract::Result<Server> create(ServerOptions options, ToolSource tools);

  /// Tells the clients that asked for it. Blocking: no.
  void list_changed(ListKind kind) const;
  void resource_updated(const std::string& uri) const;
  /// Serves these tools from now on, and tells the clients; the errors of create().
  /// Calls that run keep the tool that they began with.
  [[nodiscard]] contract::Result<> replace_tools(std::vector<contract::ToolPtr> tools) const;

  /// For the transports of this library.
  [[nodiscard]] const std::shared_ptr<const Core>& core() const noexcept { return core_; }

 private:
  explicit Server(std::shared_ptr<const Core> core);
  std::shared_ptr<const Core> core_;
};

}  // namespace bawn::mcp
