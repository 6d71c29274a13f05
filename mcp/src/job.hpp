/// \file
/// Work that may take time and therefore runs on a thread of its own, never on the reader's turn.
#pragma once

#include "bawn/contract/tool.hpp"
#include "catalog.hpp"
#include "core.hpp"
#include "exchange.hpp"
#include "live_request.hpp"
#include "peer.hpp"

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// One accepted request. Exactly one of the two functions is called, once.
class Job {
 public:
  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Called once before run(), in the order in which jobs are taken from their queue. Never blocks.
  virtual void begin() noexcept {}
  /// Does it and answers. Blocking: until done. Throws nothing.
  virtual void run() noexcept = 0;
  /// Answers that the server has no room for it.
  virtual void refuse(std::string_view why) noexcept = 0;
};

using JobPtr = std::unique_ptr<Job>;

/// What the kinds of job hold on to.
struct JobContext {
  std::shared_ptr<const Core> core;
  std::shared_ptr<Peer> peer;
  LiveRequestPtr request;
  /// Ties a state to this request: its client, its method and its parameters.
  std::string bound{};
};

/// `tools/list`: a job, since tools are asked about their confinement and availability.
[[nodiscard]] JobPtr make_list_job(JobContext context);

/// `tools/call`: `arguments` are the client's bytes, `wants_progress` says that it sent a token.
[[nodiscard]] JobPtr make_call_job(JobContext context, EntryPtr entry, std::string arguments,
                                   bool wants_progress);

/// Anything else: `work` may ask the client, and gives the result without what its era adds.
using Work = std::function<std::expected<Json, RpcError>(const contract::Context&)>;
[[nodiscard]] JobPtr make_work_job(JobContext context, std::string_view what,
                                   std::optional<Caching> caching, Work work);

}  // namespace bawn::mcp
