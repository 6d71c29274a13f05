/// \file
/// What all transports of one server share.
#pragma once

#include "bawn/contract/resource_order.hpp"
#include "bawn/mcp/server.hpp"
#include "catalog.hpp"
#include "era.hpp"
#include "json_rpc.hpp"
#include "log.hpp"
#include "report_text.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace bawn::mcp {

class Peer;
class WaitingCalls;

/// The clients that may want to be told of changes.
///
/// Threads: thread-safe.
class Watchers {
 public:
  void add(const std::shared_ptr<Peer>& peer);
  [[nodiscard]] std::vector<std::shared_ptr<Peer>> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Peer>> peers_;
};

/// How a list may be cached; modern results of lists carry it.
struct Caching {
  std::int64_t ttl_ms = 0;
  bool same_for_all = true;
};

/// Immutable but for the list of tools, the counter of calls and what is in motion.
///
/// Threads: thread-safe.
class Core {
 public:
  Core(ServerOptions server_options, Catalog tools);
  Core(ServerOptions server_options, ToolSource tools);

  const ServerOptions options;
  const std::shared_ptr<WaitingCalls> waiting;
  const std::shared_ptr<Watchers> watchers = std::make_shared<Watchers>();
  const Log log;
  const ReportText report_text;

  /// The tools, made now if nobody needed them before; one thread makes them, others wait for it.
  ///
  /// Errors: those of the source and of Catalog::create.
  [[nodiscard]] contract::Result<std::shared_ptr<const Catalog>> catalog() const;
  void replace_catalog(Catalog catalog) const;

  /// `serverInfo` for a receiver of that revision.
  [[nodiscard]] Json server_info(const WireFeatures& features) const;
  /// The same as JSON text, for a modern receiver.
  [[nodiscard]] const std::string& server_info_text() const noexcept { return server_info_text_; }
  /// What the server declares; equals the methods that the dispatcher serves.
  [[nodiscard]] Json capabilities(bool modern) const;
  [[nodiscard]] bool completes() const;
  /// `result` with what its era adds: resultType, ttlMs, cacheScope, serverInfo.
  [[nodiscard]] Json finished(Json result, const Era& era,
                              const std::optional<Caching>& caching = std::nullopt) const;
  /// As finished(), for a result whose text is `{"member":…` without the closing brace.
  [[nodiscard]] std::string finished_text(std::string_view open_members, const Era& era,
                                          const Caching& caching) const;
  /// The caching of `tools/list`.
  [[nodiscard]] Caching list_caching(const Catalog& tools) const;
  /// A call id that no other call of this server has.
  [[nodiscard]] std::string next_call_id() const;
  /// A place behind all calls that began before.
  [[nodiscard]] contract::ResourceOrder::Place next_place() const { return order_.arrive(); }

 private:
  const std::string server_info_text_;
  const ToolSource source_;  ///< empty: the tools were there from the start
  mutable std::mutex catalog_mutex_;
  mutable std::shared_ptr<const Catalog> catalog_;  ///< null until the source was asked
  mutable std::atomic<std::uint64_t> calls_{0};
  mutable contract::ResourceOrder order_;
};

}  // namespace bawn::mcp
