/// \file
/// The last list of a server's tools, and the thread that reads it again when it changed.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/guard.hpp"
#include "bawn/contract/tool.hpp"
#include "client/mirrored_arguments.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace bawn::mcp {

/// One entry of the list, checked. Refers to no connection, so that the connection may keep it.
struct ListedTool {
  contract::Definition definition;
  contract::Properties properties{};
  std::string remote_name;
  std::vector<MirroredArgument> mirrored{};
  contract::Authorizer approval{};
};
using ListedTools = std::vector<ListedTool>;
using ListedToolsPtr = std::shared_ptr<const ListedTools>;

/// Threads: thread-safe.
class ToolList {
 public:
  using Clock = std::chrono::steady_clock;
  using Lister = std::function<contract::Result<ListedTools>(const contract::Context&)>;

  /// `lister` reads the list; `on_error` hears of those that failed on the thread of here.
  ToolList(Lister lister, std::function<void(const contract::Error&)> on_error);
  ~ToolList();
  ToolList(const ToolList&) = delete;
  ToolList& operator=(const ToolList&) = delete;

  /// Reads it now, on the calling thread.
  [[nodiscard]] contract::Result<ListedToolsPtr> refresh(const contract::Context& context);
  /// Waits until what changed so far was read.
  [[nodiscard]] contract::Result<ListedToolsPtr> await(const contract::Context& context);
  /// The last one that could be read; empty before the first.
  [[nodiscard]] ListedToolsPtr snapshot() const;

  /// It changed: has it read soon. Must not be called once close() began.
  void changed();
  /// How many changes were told so far.
  [[nodiscard]] std::uint64_t seen() const;
  /// Waits up to `grace` for a change after `seen`, and for its listing.
  void settle(const contract::Context& context, std::uint64_t seen,
              std::chrono::milliseconds grace);

  /// Ends a listing on the thread of here, and all waits. Blocking: until that thread ended.
  void close();

 private:
  void run();
  void land(std::uint64_t target, const contract::Result<ListedTools>& listed);

  const Lister lister_;
  const std::function<void(const contract::Error&)> on_error_;
  const contract::CancelSource source_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  ListedToolsPtr tools_ = std::make_shared<const ListedTools>();
  std::optional<contract::Error> error_;
  std::uint64_t wanted_ = 0;
  std::uint64_t landed_ = 0;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace bawn::mcp
