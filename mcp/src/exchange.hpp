/// \file
/// A call with the client that it talks to: one request, or in the modern era several after each
/// other, since each round of questions is an answer to one and goes on with the next.
/// Source: MCP 2026-07-28, multi round-trip requests.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/mcp/asking.hpp"
#include "core.hpp"
#include "live_request.hpp"
#include "peer.hpp"
#include "request_state.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// Threads: thread-safe.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  using Answers = std::map<std::string, Json>;
  using Clock = LiveRequest::Clock;

  /// `bound` ties states to this very request; see StateSeal.
  [[nodiscard]] static std::shared_ptr<Exchange> begin(std::shared_ptr<const Core> core,
                                                       std::shared_ptr<Peer> peer,
                                                       LiveRequestPtr request, std::string bound);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// What the tool gets: ends when the request that is current ends.
  [[nodiscard]] const contract::Context& context() const noexcept { return context_; }
  /// The request that the final answer belongs to.
  [[nodiscard]] LiveRequestPtr current() const;
  /// The peer that the current request came from.
  [[nodiscard]] std::shared_ptr<Peer> peer() const;

  [[nodiscard]] contract::Result<Answers> ask(std::vector<InputRequest> requests);
  [[nodiscard]] bool offers(std::string_view capability) const;
  void log(LogLevel level, const Json& data, std::string_view logger) const;

  /// Goes on with `request`, which brought `answers`; false when it is spent already.
  [[nodiscard]] bool resume(std::uint64_t round, std::shared_ptr<Peer> peer, LiveRequestPtr request,
                            Answers answers);
  /// Ends the call: its client is gone, or its time is over.
  void abandon();

 private:
  Exchange(std::shared_ptr<const Core> core, std::shared_ptr<Peer> peer, LiveRequestPtr request,
           std::string bound);
  void follow(const LiveRequestPtr& request);  // under mutex_
  [[nodiscard]] contract::Result<Answers> ask_modern(const std::vector<InputRequest>& requests);
  [[nodiscard]] contract::Result<Answers> ask_legacy(const std::vector<InputRequest>& requests);
  [[nodiscard]] contract::Result<Answers> one_round(const std::vector<InputRequest>& requests);

  const std::shared_ptr<const Core> core_;
  const std::string bound_;
  const contract::CancelSource source_;
  contract::Context context_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<Peer> peer_;
  LiveRequestPtr request_;
  std::unique_ptr<std::stop_callback<std::function<void()>>> ending_;
  std::uint64_t number_ = 0;  // among the waiting calls; 0 before it waited
  std::uint64_t round_ = 0;
  bool waiting_ = false;
  std::optional<Answers> answers_;
};

using ExchangePtr = std::shared_ptr<Exchange>;

/// The calls that wait for their client's next request.
///
/// Threads: thread-safe.
class WaitingCalls {
 public:
  /// 0 when there is no room.
  [[nodiscard]] std::uint64_t add(const ExchangePtr& exchange, std::size_t limit);
  void remove(std::uint64_t number);
  [[nodiscard]] ExchangePtr find(std::uint64_t number) const;
  /// Ends those that `peer` asked last, or with null all.
  void abandon(const Peer* peer) const;

  const StateSeal seal;

 private:
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::weak_ptr<Exchange>> calls_;
};

}  // namespace bawn::mcp
