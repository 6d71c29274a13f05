/// \file
/// One request between its arrival and its answer: the one place that decides whether the answer,
/// a cancellation or a progress message came first.
#pragma once

#include "bawn/contract/context.hpp"
#include "era.hpp"
#include "json_rpc.hpp"
#include "outlet.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// How far a long job is, as its progress messages tell it.
struct Progress {
  std::optional<double> done{};  ///< absent: a counter is used
  std::optional<double> total{};
  std::string message;
};

/// When a call that says nothing gives a sign of life.
struct ProgressPace {
  std::chrono::milliseconds first{};
  std::chrono::milliseconds every{};
};

/// Threads: thread-safe.
class LiveRequest {
 public:
  using Clock = Outlet::Clock;

  LiveRequest(RequestId id, Era era, const contract::Context& parent,
              std::shared_ptr<Outlet> outlet);

  [[nodiscard]] const RequestId& id() const noexcept { return id_; }
  [[nodiscard]] const Era& era() const noexcept { return era_; }
  [[nodiscard]] const contract::Context& context() const noexcept { return source_.context(); }

  /// Log messages from this level up are wanted. Call before the request can run.
  void want_log(int level) { log_level_ = level; }
  [[nodiscard]] std::optional<int> log_level() const noexcept { return log_level_; }

  /// Progress messages are wanted, under this token. Call before the request can run.
  void want_progress(Json token, ProgressPace pace);

  /// True until it is answered or cancelled.
  [[nodiscard]] bool open() const;
  /// Sends the answer, unless the request was cancelled.
  void answer(std::string line, HttpStatus status = HttpStatus::Ok);
  /// Sends a message about the request while it is open; false when it is not.
  bool tell(std::string line);
  /// As tell(), for a message that a slow client may miss.
  void tell_droppable(std::string_view key, std::string line);
  /// Ends the request without an answer and tells its context.
  void cancel();
  /// Tells the context that the client is gone; what the tool still returns is answered.
  void interrupt() const;

  /// Sends a progress message if the client asked for them, the request is open, and the number
  /// grows.
  void progress(const Progress& progress);
  /// Sends the sign of life that is due at `now`; the time of the next one, none when there will
  /// be none.
  std::optional<Clock::time_point> sign_of_life(Clock::time_point now);

 private:
  enum class State { Open, Answered, Cancelled };
  void send_progress(const Progress& progress);  // under mutex_

  const RequestId id_;
  const Era era_;
  const contract::CancelSource source_;
  const std::shared_ptr<Outlet> outlet_;

  mutable std::mutex mutex_;
  State state_ = State::Open;
  std::optional<int> log_level_;
  std::optional<Json> token_;
  ProgressPace pace_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point due_ = Clock::time_point::max();
  std::optional<double> sent_;
  bool tool_counts_ = false;  // the tool gives numbers of its own; ours would contradict them
};

using LiveRequestPtr = std::shared_ptr<LiveRequest>;

}  // namespace bawn::mcp
