/// \file
/// What a bash call and a one-shot call have in common: waiting, limits, stopping, yielding.
#pragma once

#include "bawn/contract/context.hpp"
#include "call_record.hpp"
#include "pump.hpp"
#include "stopper.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace bawn::shell {

/// A running call and its pump. Whoever calls drive() moves its output; a second caller may go on
/// where the first one yielded.
///
/// Threads: one at a time.
class DrivenCall {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Progress { Finished, Yielded };

  /// The limits of one call.
  struct Limits {
    std::optional<Milliseconds> timeout{};
    OnTimeout on_timeout = OnTimeout::Kill;
    std::uint64_t output_limit = 0;  ///< bytes per stream; 0 = none
  };

  DrivenCall(CallPtr record, const Limits& limits);
  virtual ~DrivenCall() = default;
  DrivenCall(const DrivenCall&) = delete;
  DrivenCall& operator=(const DrivenCall&) = delete;

  /// Blocks until the call is finished, its record included, or in the foreground until `yield_at`
  /// or until its time limit put it into the background. The end of `context` stops the call.
  [[nodiscard]] Progress drive(const contract::Context& context,
                               std::optional<Clock::time_point> yield_at, bool foreground);

  [[nodiscard]] const CallPtr& record() const noexcept { return record_; }

 protected:
  /// Ends what the call started.
  virtual StopResult stop() = 0;
  /// Makes the result and finishes the record. `stopped` when stop() ran.
  virtual void conclude(const std::optional<StopResult>& stopped) = 0;
  struct Look {
    std::optional<StopResult> stopped{};  ///< ends the call
    bool soon = false;                    ///< look again in a moment
  };
  /// Now and then while the call runs, ever more rarely.
  virtual Look look() { return {}; }

  /// Hands a stream that somebody still holds to the keeper, and leaves it otherwise. True when
  /// held.
  bool release_stream(class Keeper& keeper, Stream stream, os::UniqueFd& fd);
  /// The reason that a stop or a limit gives, over what the process itself said. A call that ended
  /// before it was `stopped` has ended by itself, whatever was asked for meanwhile.
  void apply_cause(CallResult& result, bool stopped) const;

  CallPtr record_;
  std::optional<Pump> pump_;

 private:
  [[nodiscard]] std::optional<Clock::time_point> next_wake(
      const contract::Context& context, std::optional<Clock::time_point> yield_at) const;
  /// True when the call is to go on without its caller.
  [[nodiscard]] bool check_limits(const contract::Context& context, Clock::time_point now);

  Limits limits_;
  std::optional<Clock::time_point> timeout_at_;
  Clock::time_point look_at_;
  std::chrono::milliseconds look_after_;
};

}  // namespace bawn::shell
