/// \file
/// The context of a call: cancellation with a reason, a deadline, and typed values, linked from
/// parent to child. It is passed by const reference down the call chain and never stored globally.
#pragma once

#include <any>
#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <typeindex>
#include <utility>

namespace bawn::contract {

/// Why a context ended. The first cause wins.
enum class CancelReason { Cancelled, Deadline, Closed };

/// A cheap copyable view of one node in the chain.
///
/// A deadline is a value here: the contract has no clock of its own, so whoever waits compares it
/// with steady_clock. A child ends when its parent ends.
///
/// Threads: thread-safe.
class Context {
 public:
  using Clock = std::chrono::steady_clock;

  /// The root: never cancelled, no deadline, no values.
  Context();

  /// True once cancellation was requested here or above (an expired deadline alone is not a
  /// request; see `ended_at`).
  [[nodiscard]] bool cancelled() const noexcept;
  /// True when cancelled, or when the deadline is at or before `now`.
  [[nodiscard]] bool ended_at(Clock::time_point now) const noexcept;
  /// The reason given with the first cancellation; none while not cancelled.
  [[nodiscard]] std::optional<CancelReason> reason() const noexcept;
  /// The nearest deadline of the chain.
  [[nodiscard]] std::optional<Clock::time_point> deadline() const noexcept;
  /// For std::stop_callback and condition_variable_any. A callback runs on the canceller's
  /// thread: let it only set a flag or write an eventfd.
  [[nodiscard]] std::stop_token stop_token() const noexcept;

  /// A child whose deadline is the earlier of `deadline` and its parent's.
  [[nodiscard]] Context with_deadline(Clock::time_point deadline) const;
  /// The values of this context without its cancellation and deadline.
  [[nodiscard]] Context detached() const;

  /// A child carrying `value`, found by its type.
  template <class T>
  [[nodiscard]] Context with(T value) const {
    return with_any(std::type_index(typeid(T)), std::make_shared<const std::any>(std::move(value)));
  }
  /// The nearest value of type T, or null. The pointer lives as long as this context's chain.
  template <class T>
  [[nodiscard]] const T* find() const noexcept {
    const std::any* found = find_any(std::type_index(typeid(T)));
    return found == nullptr ? nullptr : std::any_cast<T>(found);
  }

 private:
  friend class CancelSource;
  struct Node;
  explicit Context(std::shared_ptr<const Node> node);
  [[nodiscard]] Context with_any(std::type_index key, std::shared_ptr<const std::any> value) const;
  [[nodiscard]] const std::any* find_any(std::type_index key) const noexcept;
  std::shared_ptr<const Node> node_;
};

/// Owns the right to cancel one child context. Destroying it does not cancel.
///
/// Threads: thread-safe.
class CancelSource {
 public:
  explicit CancelSource(const Context& parent);
  [[nodiscard]] const Context& context() const noexcept;
  /// Ends the context and its children. The first reason is kept.
  void cancel(CancelReason reason = CancelReason::Cancelled) const;

 private:
  Context context_;
};

}  // namespace bawn::contract
