/// \file
/// The state that a batch's consumer, workers and late progress senders share.
#pragma once

#include "bawn/contract/executor.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <queue>
#include <stop_token>
#include <thread>

namespace bawn::contract {

/// A job holds one of the batch's slots until the consumer took its final event, and only then may
/// the next one of its chain start. A worker does not wait for that: it looks for another job and
/// another slot. Progress passes by rendezvous: its sender returns when it was taken, so that a
/// tool cannot pile up updates.
class Batch::State : public std::enable_shared_from_this<Batch::State> {
 public:
  State(const Context& context, std::vector<Job> jobs,
        const std::vector<std::vector<std::size_t>>& chains, int slots, ExecutorOptions options);

  /// A worker's life: jobs whose turn has come, until none is left to start.
  void work();
  /// See Batch::next. With `watched` false no job's own on_update is called.
  std::optional<Event> next(bool watched);
  void cancel() const { cancel_.cancel(); }
  /// Ends every job that has not started with `error`.
  void refuse(Error error);

 private:
  /// A sender of progress that waits for its event to be taken.
  struct Sender {
    bool taken = false;
  };
  /// An event that waits to be taken.
  struct Offer {
    Event event;
    Sender* sender;  ///< none of a final event
  };
  struct WakeAll {
    State* state;
    void operator()() const { state->wake_all(); }
  };

  std::optional<std::size_t> take_turn(std::unique_lock<std::mutex>& lock);
  Outcome run(std::size_t index);
  Result<> call_start_hook(const Context& context, const Job& job) const;
  void send_progress(std::size_t index, const ToolResult& update);
  void offer_final(std::size_t index, Outcome outcome);
  std::optional<Event> take_unstarted();
  void hand_on(Offer& offer, bool watched);
  void acknowledge(Sender& sender);
  void wake_worker();
  void wake_all();
  [[nodiscard]] bool has_turn() const { return !ready_.empty() && free_slots_ > 0; }

  CancelSource cancel_;
  Context context_;
  ExecutorOptions options_;
  std::vector<Job> jobs_;
  std::vector<std::optional<std::size_t>> successor_;  ///< the next job of a job's chain

  std::mutex mutex_;
  std::condition_variable events_;  ///< the consumer's: an event, or the end of all
  std::condition_variable turns_;   ///< the idle workers': a job may start, or none ever will
  std::condition_variable taken_;   ///< the progress senders'
  /// Jobs that may start, the earliest first.
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready_;
  int free_slots_;
  int idle_workers_ = 0;
  bool waking_ = false;         ///< a worker was woken and has not looked yet
  std::vector<bool> started_;   ///< taken by a worker, or ended without
  std::size_t unstarted_;       ///< how many are not
  std::size_t first_left_ = 0;  ///< none before it is unstarted
  std::vector<bool> ended_;     ///< the final event was offered
  std::size_t finals_left_;
  std::deque<Offer> offers_;
  std::thread::id watching_;      ///< who is inside a job's own on_update
  std::optional<Error> refusal_;  ///< why nothing starts, when it is not the caller's cancellation
  /// The last member: what it wakes is there before it and after it.
  std::optional<std::stop_callback<WakeAll>> on_cancel_;
};

/// The threads of a batch. Joined when destroyed.
class Batch::Workers {
 public:
  Workers(const std::shared_ptr<State>& state, int count);

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace bawn::contract
