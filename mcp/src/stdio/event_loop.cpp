#include "stdio/event_loop.hpp"

#include "bawn/contract/call_context.hpp"
#include "exchange.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

// A burst's threads are given back down to this many waiting ones.
constexpr std::size_t kKeptThreads = 4;

std::unexpected<Error> system_error(const char* call) {
  return std::unexpected(Error::from_errno(errno, call, "waiting for the client"));
}

void add_one(int event_fd) {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the event is there already.
  [[maybe_unused]] const auto written = ::write(event_fd, &one, sizeof one);
}

void clear_counter(int fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(fd, &count, sizeof count);
}

}  // namespace

EventLoop::EventLoop(std::shared_ptr<const Core> core, Streams streams, const StdioOptions& options)
    : core_(std::move(core)),
      max_line_bytes_(options.max_line_bytes),
      in_(std::move(streams.in)),
      writer_(std::move(streams.out), options.max_outgoing_bytes),
      reader_(options.max_line_bytes) {}

Result<std::shared_ptr<EventLoop>> EventLoop::create(std::shared_ptr<const Core> core,
                                                     Streams streams, const StdioOptions& options) {
  const std::shared_ptr<EventLoop> loop(
      new EventLoop(std::move(core), std::move(streams), options));
  BAWN_TRY(loop->open_descriptors());
  // On stdio the client is the process's owner: one session, whose id is empty.
  const bool known = contract::session_from(options.context) != nullptr;
  // The loop and its peer hold each other until stop().
  loop->peer_ = std::make_shared<Peer>(
      known ? options.context : contract::with_session(options.context, {}), loop);
  loop->dispatcher_ = std::make_unique<Dispatcher>(loop->core_, loop->peer_);
  return loop;
}

Result<> EventLoop::open_descriptors() {
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) {
    return system_error("epoll_create1");
  }
  for (UniqueFd* const counter : {&wake_, &stop_, &notice_}) {
    *counter = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!*counter) {
      return system_error("eventfd");
    }
  }
  timer_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_) {
    return system_error("timerfd_create");
  }
  if (!watch(stop_.get(), Event::Stop, EPOLLIN) ||
      !watch(wake_.get(), Event::Wake, EPOLLIN | EPOLLET) ||
      !watch(timer_.get(), Event::Timer, EPOLLIN | EPOLLET)) {
    return system_error("epoll_ctl");
  }
  // Not armed for writing, but the client's closing of its end is told all the same.
  if (!watch(writer_.fd(), Event::Output, EPOLLONESHOT) && errno != EPERM) {
    return system_error("epoll_ctl");
  }
  if (watch(in_.get(), Event::Input, EPOLLIN | EPOLLONESHOT)) {
    return {};
  }
  if (errno != EPERM) {
    return system_error("epoll_ctl");
  }
  // EPERM: a regular file or /dev/null, which never blocks.
  always_ready_ = UniqueFd(::eventfd(1, EFD_CLOEXEC));
  if (!watch(always_ready_.get(), Event::Input, EPOLLIN | EPOLLONESHOT)) {
    return system_error("epoll_ctl");
  }
  return {};
}

bool EventLoop::watch(int fd, Event event, std::uint32_t events) const {
  epoll_event entry{.events = events, .data = {.u64 = static_cast<std::uint64_t>(event)}};
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &entry) == 0;
}

void EventLoop::arm(int fd, Event event, std::uint32_t events) const {
  epoll_event entry{.events = events | EPOLLONESHOT,
                    .data = {.u64 = static_cast<std::uint64_t>(event)}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &entry);
}

Result<> EventLoop::start() {
  const std::scoped_lock lock(mutex_);
  if (!start_thread()) {
    return contract::fail(ErrorCode::ResourceExhausted, "no thread could be started");
  }
  return {};
}

void EventLoop::clear_notice() const {
  clear_counter(notice_.get());
}

bool EventLoop::drained() const {
  // A message that is read now may be a call that nobody counts yet.
  const std::unique_lock reading(read_mutex_, std::try_to_lock);
  const std::scoped_lock lock(mutex_);
  return reading.owns_lock() && running_ == 0 && queue_.empty() && writer_.clear();
}

void EventLoop::stop_reading() {
  {
    const std::scoped_lock lock(mutex_);
    reading_ = false;
  }
  peer_->end_subscriptions();
  core_->waiting->abandon(peer_.get());  // no further request can bring the answers
  notify();
}

void EventLoop::interrupt() {
  peer_->interrupt();
}

std::size_t EventLoop::stop() {
  stopping_ = true;
  add_one(stop_.get());
  std::unique_lock lock(mutex_);
  thread_ended_.wait(lock, [&] { return threads_ == running_; });
  const std::size_t abandoned = running_;
  queue_.clear();
  lock.unlock();
  writer_.close();
  dispatcher_.reset();
  peer_.reset();
  return abandoned;
}

void EventLoop::send(std::string line) {
  after_write(writer_.send(std::move(line)));
}

void EventLoop::send_droppable(std::string_view key, std::string line) {
  after_write(writer_.send_droppable(key, std::move(line)));
}

void EventLoop::tick_by(Clock::time_point time) {
  const std::scoped_lock lock(timer_mutex_);
  if (time >= timer_due_) {
    return;
  }
  timer_due_ = time;
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(since - seconds);
  const itimerspec when{.it_interval = {},
                        .it_value = {.tv_sec = seconds.count(), .tv_nsec = rest.count()}};
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void EventLoop::work() {
  while (!stopping_) {
    if (JobPtr job = take_job()) {
      if (!run(std::move(job))) {
        break;
      }
    } else if (!wait_for_event()) {
      break;
    }
  }
}

JobPtr EventLoop::take_job() {
  const std::scoped_lock lock(mutex_);
  if (queue_.empty() || running_ >= core_->options.max_parallel_calls) {
    return nullptr;
  }
  JobPtr job = std::move(queue_.front());
  queue_.pop_front();
  --waiting_;
  ++running_;
  job->begin();
  return job;
}

/// False when this thread is one too many afterwards.
bool EventLoop::run(JobPtr job) {
  if (prepare_others()) {
    job->run();
  } else {
    job->refuse("busy: no thread could be started; try again when a call has ended");
  }
  job.reset();
  const std::scoped_lock lock(mutex_);
  --running_;
  ++waiting_;
  if (!reading_) {
    notify();
  }
  return waiting_ <= kKeptThreads || !queue_.empty();
}

/// Sees to it that another thread waits for messages while this one is busy, and that one comes for
/// the next job, which does the same in its turn. False when nobody would be reading.
bool EventLoop::prepare_others() {
  const std::scoped_lock lock(mutex_);
  const bool more = !queue_.empty() && running_ < core_->options.max_parallel_calls;
  if (waiting_ < (more ? 2U : 1U)) {
    [[maybe_unused]] const bool started = start_thread();
  }
  if (more) {
    add_one(wake_.get());
  }
  return waiting_ > 0;
}

bool EventLoop::start_thread() {
  try {
    std::thread([self = shared_from_this()] {
      self->work();
      self->end_thread();
    }).detach();
  } catch (const std::system_error& error) {
    core_->log.warn(fmt::format("no thread could be started: {}", error.what()));
    return false;
  }
  ++threads_;
  ++waiting_;
  return true;
}

void EventLoop::end_thread() {
  const std::scoped_lock lock(mutex_);
  --threads_;
  --waiting_;
  thread_ended_.notify_all();
}

void EventLoop::queue(std::vector<JobPtr> jobs) {
  std::vector<JobPtr> refused;
  {
    const std::scoped_lock lock(mutex_);
    const std::size_t room = core_->options.max_parallel_calls + core_->options.max_queued_calls;
    for (JobPtr& job : jobs) {
      auto& place =
          running_ + queue_.size() < room ? queue_.emplace_back() : refused.emplace_back();
      place = std::move(job);
    }
  }
  for (const JobPtr& job : refused) {
    job->refuse("busy: too many calls are waiting; try again when one has ended");
  }
}

/// Takes one event and deals with it. False when the loop has been stopped.
bool EventLoop::wait_for_event() {
  epoll_event event{};
  if (::epoll_wait(epoll_.get(), &event, 1, -1) != 1) {
    return errno == EINTR;
  }
  switch (static_cast<Event>(event.data.u64)) {
    case Event::Input:
      read_input();
      notify_at_end();
      return true;
    case Event::Output:
      flush_output((event.events & EPOLLERR) != 0);
      return true;
    case Event::Wake:
      clear_counter(wake_.get());
      return true;
    case Event::Timer:
      tick();
      return true;
    case Event::Stop:
      return false;
  }
  return true;
}

void EventLoop::read_input() {
  // The event is armed for one thread at a time; the lock says so to everyone else.
  const std::scoped_lock reading(read_mutex_);
  std::vector<JobPtr> jobs;
  auto space = reader_.prepare();
  if (space.empty()) {
    accept_lines(jobs);
    space = reader_.prepare();
  }
  const ssize_t got = ::read(in_.get(), space.data(), space.size());
  if (space.empty() || (got < 0 && (errno == EAGAIN || errno == EINTR))) {
    arm_input();
    return;
  }
  if (got > 0) {
    reader_.commit(static_cast<std::size_t>(got));
    accept_lines(jobs);
    grow_input();
    queue(std::move(jobs));
    arm_input();
    return;
  }
  if (const auto line = reader_.last()) {
    dispatcher_->accept(line->text, std::nullopt, peer_->outlet(), jobs);
  }
  queue(std::move(jobs));
  ended_ = true;
  notify();
}

/// A megabyte through a pipe of the usual 64 KiB is sixteen times waiting for the client. As for
/// the output, what is no pipe refuses, and so does a user's share of pipe memory (pipe(7)).
void EventLoop::grow_input() {
  constexpr std::size_t kLong = std::size_t{128} << 10U;
  constexpr int kGrown = 1 << 20;
  if (!input_grown_ && reader_.unfinished() > kLong) {
    input_grown_ = true;
    static_cast<void>(::fcntl(in_.get(), F_SETPIPE_SZ, kGrown));
  }
}

void EventLoop::accept_lines(std::vector<JobPtr>& jobs) {
  while (const auto line = reader_.next()) {
    if (line->no_memory) {
      dispatcher_->refuse_starved(line->text, *this);
    } else if (line->too_long) {
      dispatcher_->refuse_long(line->text, max_line_bytes_, *this);
    } else {
      try {
        dispatcher_->accept(line->text, std::nullopt, peer_->outlet(), jobs);
      } catch (const std::bad_alloc&) {
        dispatcher_->refuse_starved(line->text, *this);
      }
    }
  }
}

void EventLoop::arm_input() {
  const std::scoped_lock lock(mutex_);
  if (!reading_) {
    return;
  }
  paused_ = writer_.full();
  if (!paused_) {
    arm(always_ready_ ? always_ready_.get() : in_.get(), Event::Input, EPOLLIN);
  }
}

void EventLoop::flush_output(bool closed) {
  if (closed) {
    writer_.close();
    after_write(LineWriter::State::Broken);
    return;
  }
  after_write(writer_.flush());
  bool resume = false;
  {
    const std::scoped_lock lock(mutex_);
    resume = paused_ && !writer_.full();
    if (!reading_) {
      notify();
    }
  }
  if (resume) {
    arm_input();
  }
}

void EventLoop::after_write(LineWriter::State state) {
  if (state == LineWriter::State::Waiting) {
    arm(writer_.fd(), Event::Output, EPOLLOUT);
  } else if (state == LineWriter::State::Broken && !broken_.exchange(true)) {
    notify();
  }
}

void EventLoop::tick() {
  {
    const std::scoped_lock lock(timer_mutex_);
    clear_counter(timer_.get());
    timer_due_ = Clock::time_point::max();
  }
  if (const auto next = peer_->tick(Clock::now())) {
    tick_by(*next);
  }
}

void EventLoop::notify_at_end() const {
  const std::scoped_lock lock(mutex_);
  if (!reading_) {
    notify();
  }
}

void EventLoop::notify() const {
  add_one(notice_.get());
}

}  // namespace bawn::mcp
