/// \file
/// The threads of one stdio connection: they take turns at reading and run what they have read.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/mcp/stdio.hpp"
#include "core.hpp"
#include "dispatcher.hpp"
#include "job.hpp"
#include "outlet.hpp"
#include "peer.hpp"
#include "stdio/line_reader.hpp"
#include "stdio/line_writer.hpp"
#include "stdio/streams.hpp"
#include "unique_fd.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace bawn::mcp {

/// All threads wait on one epoll set in which the input is armed for one event at a time. The
/// thread that gets it reads, arms it again, and then runs the call itself: no message is handed
/// from thread to thread unless several calls arrive in one read. Before a thread runs a call it
/// sees to it that another one waits, and starts one if need be, so that reading never stops. epoll
/// wakes the thread that came last (its waiters are exclusive and queued in front), so a client
/// that sends one call after the other keeps one thread warm.
///
/// Threads: thread-safe.
class EventLoop final : public Outlet, public std::enable_shared_from_this<EventLoop> {
 public:
  [[nodiscard]] static contract::Result<std::shared_ptr<EventLoop>> create(
      std::shared_ptr<const Core> core, Streams streams, const StdioOptions& options);

  /// Starts the first thread. Errors: ResourceExhausted when there is none to be had.
  [[nodiscard]] contract::Result<> start();

  /// Readable when something happened that `ended()`, `broken()` or `drained()` tell.
  [[nodiscard]] int notice_fd() const noexcept { return notice_.get(); }
  void clear_notice() const;
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  /// No call runs or waits and all answers are written.
  [[nodiscard]] bool drained() const;

  /// Reads no further message and ends the subscriptions.
  void stop_reading();
  /// Tells the running calls that the client is gone.
  void interrupt();
  /// Ends all threads that do not run a call and waits for them; the number of those that do.
  /// Messages of calls that end later are dropped.
  [[nodiscard]] std::size_t stop();

  void send(std::string line) override;
  void send_droppable(std::string_view key, std::string line) override;
  void tick_by(Clock::time_point time) override;

 private:
  enum class Event : std::uint64_t { Input, Output, Wake, Timer, Stop };

  EventLoop(std::shared_ptr<const Core> core, Streams streams, const StdioOptions& options);
  [[nodiscard]] contract::Result<> open_descriptors();
  [[nodiscard]] bool watch(int fd, Event event, std::uint32_t events) const;
  void arm(int fd, Event event, std::uint32_t events) const;

  // Threads and jobs.
  void work();
  [[nodiscard]] JobPtr take_job();
  [[nodiscard]] bool run(JobPtr job);
  [[nodiscard]] bool prepare_others();
  [[nodiscard]] bool start_thread();  // under mutex_
  void end_thread();
  void queue(std::vector<JobPtr> jobs);

  // Events.
  [[nodiscard]] bool wait_for_event();
  void read_input();
  void accept_lines(std::vector<JobPtr>& jobs);
  void grow_input();
  void arm_input();
  void flush_output(bool closed);
  void after_write(LineWriter::State state);
  void tick();
  void notify() const;
  void notify_at_end() const;

  const std::shared_ptr<const Core> core_;
  const std::size_t max_line_bytes_;
  const UniqueFd in_;
  UniqueFd epoll_;
  UniqueFd always_ready_;  // stands for an input that epoll cannot watch: a regular file
  UniqueFd wake_;
  UniqueFd timer_;
  UniqueFd stop_;
  UniqueFd notice_;
  LineWriter writer_;

  mutable std::mutex read_mutex_;  // before mutex_
  LineReader reader_;
  bool input_grown_ = false;  // under read_mutex_
  std::shared_ptr<Peer> peer_;
  std::unique_ptr<Dispatcher> dispatcher_;

  mutable std::mutex mutex_;
  std::condition_variable thread_ended_;
  std::deque<JobPtr> queue_;
  std::size_t threads_ = 0;
  std::size_t waiting_ = 0;  // threads that do not run a job
  std::size_t running_ = 0;  // threads that do
  bool reading_ = true;
  bool paused_ = false;  // not reading until the client has taken more of the output

  std::mutex timer_mutex_;
  Clock::time_point timer_due_ = Clock::time_point::max();

  std::atomic<bool> ended_{false};
  std::atomic<bool> broken_{false};
  std::atomic<bool> stopping_{false};
};

}  // namespace bawn::mcp
