#include "http/worker_pool.hpp"

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace bawn::mcp {
namespace {

// A burst's threads are given back down to this many.
constexpr std::size_t kKeptThreads = 4;

}  // namespace

void WorkerPool::add(JobPtr job) {
  bool taken = false;
  {
    const std::scoped_lock lock(mutex_);
    const std::size_t waiting = threads_ - running_;
    const bool thread = waiting > queue_.size() || (threads_ < max_running_ && start_thread());
    if (!stopping_ && (thread || (threads_ > 0 && queue_.size() < max_queued_ + waiting))) {
      queue_.push_back(std::move(job));
      taken = true;
    }
  }
  if (taken) {
    work_came_.notify_one();
  } else {
    job->refuse("busy: too many calls are waiting; try again when one has ended");
  }
}

bool WorkerPool::start_thread() {
  try {
    std::thread([self = shared_from_this()] { self->work(); }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  ++threads_;
  return true;
}

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_came_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) {
      break;
    }
    JobPtr job = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    job->begin();
    lock.unlock();
    job->run();
    job.reset();
    lock.lock();
    --running_;
    changed_.notify_all();
    if (queue_.empty() && threads_ - running_ > kKeptThreads) {
      break;
    }
  }
  --threads_;
  changed_.notify_all();
}

bool WorkerPool::wait_idle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return running_ == 0 && queue_.empty(); });
}

std::size_t WorkerPool::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  work_came_.notify_all();
  changed_.wait(lock, [&] { return threads_ == running_; });
  queue_.clear();
  return running_;
}

}  // namespace bawn::mcp
