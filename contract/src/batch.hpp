/// \file
/// The state that a batch's consumer, workers and late progress senders share.
#pragma once

#include "bawn/contract/executor.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

namespace bawn::contract {

/// Events pass by rendezvous: a sender returns when the consumer took its event. A queue between
/// them would let a chain's next job start while nobody has seen the end of the one before.
class Batch::State : public std::enable_shared_from_this<Batch::State> {
 public:
  State(const Context& context, std::vector<Job> jobs,
        const std::vector<std::vector<std::size_t>>& chains, ExecutorOptions options);

  /// A worker's life: jobs whose turn has come, until none is left to start.
  void work();
  /// See Batch::next. With `watched` false no job's own on_update is called.
  std::optional<Event> next(bool watched);
  void cancel() const { cancel_.cancel(); }
  /// Ends every job that has not started with `error`.
  void refuse(Error error);

 private:
  /// An event that waits to be taken. It lives on its sender's stack.
  struct Offer {
    Event event;
    bool taken = false;
  };

  std::optional<std::size_t> take_turn();
  Outcome run(std::size_t index);
  Result<> call_start_hook(const Context& context, const Job& job) const;
  void send_progress(std::size_t index, const ToolResult& update);
  void send_final(std::size_t index, Outcome outcome);
  std::optional<Event> take_event();
  void acknowledge(Offer* offer);

  CancelSource cancel_;
  Context context_;
  ExecutorOptions options_;
  std::vector<Job> jobs_;
  std::vector<std::optional<std::size_t>> successor_;  ///< the next job of a job's chain

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<std::size_t> ready_;      ///< may start now
  std::set<std::size_t> unstarted_;  ///< ready ones and those that wait for their chain
  std::vector<bool> ended_;          ///< the final event was offered
  std::size_t finals_left_;
  std::deque<Offer*> offers_;
  std::optional<Error> refusal_;  ///< why nothing starts, when it is not the caller's cancellation
};

/// The threads of a batch. Joined when destroyed.
class Batch::Workers {
 public:
  Workers(const std::shared_ptr<State>& state, int count);

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace bawn::contract
