/// \file
/// Threads that run the calls which came over HTTP.
#pragma once

#include "job.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

namespace bawn::mcp {

/// Starts threads with the load and gives them back after it.
///
/// Threads: thread-safe.
class WorkerPool : public std::enable_shared_from_this<WorkerPool> {
 public:
  WorkerPool(std::size_t max_running, std::size_t max_queued)
      : max_running_(max_running), max_queued_(max_queued) {}

  /// Runs it when there is a thread, or refuses it.
  void add(JobPtr job);
  /// Until no call runs or `deadline` is reached; true when none does.
  [[nodiscard]] bool wait_idle(std::chrono::steady_clock::time_point deadline);
  /// Ends the threads that run no call; the number of those that do.
  [[nodiscard]] std::size_t stop();

 private:
  void work();
  [[nodiscard]] bool start_thread();  // under mutex_

  const std::size_t max_running_;
  const std::size_t max_queued_;
  std::mutex mutex_;
  std::condition_variable work_came_;
  std::condition_variable changed_;
  std::deque<JobPtr> queue_;
  std::size_t threads_ = 0;
  std::size_t running_ = 0;
  bool stopping_ = false;
};

}  // namespace bawn::mcp
