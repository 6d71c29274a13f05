/// \file
/// The answers of one JSON-RPC batch, which go out together as one array.
/// Source: MCP 2025-03-26, the only revision with batches.
#pragma once

#include "outlet.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// Collects until every request of the batch is answered or withdrawn. Notifications are not held
/// back.
///
/// Threads: thread-safe.
class BatchOutlet final : public Outlet {
 public:
  explicit BatchOutlet(std::shared_ptr<Outlet> outlet);

  /// One more request, which will be answered or withdrawn. Call before it can be.
  void expect();
  /// All requests have been announced.
  void complete();

  void send(std::string line) override;
  void answer(std::string line, HttpStatus status) override;
  void send_droppable(std::string_view key, std::string line) override;
  void withdrawn() override;
  void tick_by(Clock::time_point time) override;

 private:
  void settle(std::string_view line);

  const std::shared_ptr<Outlet> outlet_;
  std::mutex mutex_;
  std::string answers_ = "[";
  std::size_t expected_ = 1;  // the announcement itself
};

}  // namespace bawn::mcp
