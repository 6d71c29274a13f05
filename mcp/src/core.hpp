/// \file
/// What all transports of one server share.
#pragma once

#include "bawn/mcp/server.hpp"
#include "catalog.hpp"
#include "era.hpp"
#include "json_rpc.hpp"
#include "log.hpp"
#include "report_text.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace bawn::mcp {

/// How a list may be cached; modern results of lists carry it.
struct Caching {
  std::int64_t ttl_ms = 0;
  bool same_for_all = true;
};

/// Immutable but for the counter of calls.
///
/// Threads: thread-safe.
class Core {
 public:
  Core(ServerOptions server_options, Catalog tools)
      : options(std::move(server_options)),
        catalog(std::move(tools)),
        log(options.log),
        server_info_text_(contract::dump_json(server_info(features_of(kModernVersion)))) {}

  const ServerOptions options;
  const Catalog catalog;
  const Log log;
  const ReportText report_text;

  /// `serverInfo` for a receiver of that revision.
  [[nodiscard]] Json server_info(const WireFeatures& features) const;
  /// The same as JSON text, for a modern receiver.
  [[nodiscard]] const std::string& server_info_text() const noexcept { return server_info_text_; }
  /// What the server declares; equals the methods that the dispatcher serves.
  [[nodiscard]] Json capabilities(bool modern) const;
  /// `result` with what its era adds: resultType, ttlMs, cacheScope, serverInfo.
  [[nodiscard]] Json finished(Json result, const Era& era,
                              const std::optional<Caching>& caching = std::nullopt) const;
  /// The caching of `tools/list`.
  [[nodiscard]] Caching list_caching() const;
  /// A call id that no other call of this server has.
  [[nodiscard]] std::string next_call_id() const;

 private:
  const std::string server_info_text_;
  mutable std::atomic<std::uint64_t> calls_{0};
};

}  // namespace bawn::mcp
