#include "batch.hpp"

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace bawn::contract {

Batch::State::State(const Context& context, std::vector<Job> jobs,
                    const std::vector<std::vector<std::size_t>>& chains, int slots,
                    ExecutorOptions options)
    : cancel_(context),
      context_(cancel_.context()),
      options_(std::move(options)),
      jobs_(std::move(jobs)),
      successor_(jobs_.size()),
      free_slots_(slots),
      started_(jobs_.size(), false),
      unstarted_(jobs_.size()),
      ended_(jobs_.size(), false),
      finals_left_(jobs_.size()) {
  if (options_.recorder) {
    context_ = with_recorder(context_, options_.recorder);
  }
  if (options_.keyed_store) {
    context_ = with_keyed_store(context_, options_.keyed_store);
  }
  for (const auto& chain : chains) {
    ready_.push(chain.front());
    for (std::size_t i = 1; i < chain.size(); ++i) {
      successor_[chain[i - 1]] = chain[i];
    }
  }
  on_cancel_.emplace(context_.stop_token(), WakeAll{this});
}

void Batch::State::work() {
  std::unique_lock lock(mutex_);
  while (const auto index = take_turn(lock)) {
    lock.unlock();
    Outcome outcome = run(*index);
    lock.lock();
    offer_final(*index, std::move(outcome));
  }
}

// None when there is nothing left to start. A cancelled batch starts nothing more: the consumer
// itself makes the final events of the jobs that have not started.
std::optional<std::size_t> Batch::State::take_turn(std::unique_lock<std::mutex>& lock) {
  const auto turn_or_end = [&] { return has_turn() || unstarted_ == 0 || context_.cancelled(); };
  ++idle_workers_;
  turns_.wait(lock, turn_or_end);
  --idle_workers_;
  waking_ = false;
  if (context_.cancelled() || unstarted_ == 0) {
    return std::nullopt;
  }
  const std::size_t index = ready_.top();
  ready_.pop();
  started_[index] = true;
  --free_slots_;
  if (--unstarted_ == 0) {
    turns_.notify_all();  // idle workers may go
  } else {
    wake_worker();
  }
  return index;
}

// One at a time, and the woken one wakes the next: short jobs are done by the workers that are
// awake already. With the mutex held.
void Batch::State::wake_worker() {
  if (has_turn() && idle_workers_ > 0 && !waking_) {
    waking_ = true;
    turns_.notify_one();
  }
}

// On the canceller's thread.
void Batch::State::wake_all() {
  const std::scoped_lock lock(mutex_);
  events_.notify_all();
  turns_.notify_all();
  taken_.notify_all();
}

Outcome Batch::State::run(std::size_t index) {
  Job job = jobs_[index];
  if (!job.tool) {
    return Error(ErrorCode::NotFound, fmt::format("no tool for call {}", quote(job.call.id)));
  }
  // A shared pointer: a tool's own thread may send progress after the batch is gone.
  job.call.on_update = [state = shared_from_this(), index](const ToolResult& update) {
    state->send_progress(index, update);
  };
  const Context context = with_call(context_, job.call);
  if (context.cancelled()) {
    return cancellation_error(context);
  }
  if (const auto started = call_start_hook(context, job); !started) {
    return started.error();
  }
  return execute_contained(*job.tool, context, job.call);
}

Result<> Batch::State::call_start_hook(const Context& context, const Job& job) const {
  if (!options_.on_start) {
    return {};
  }
  Result<> result;
  const auto panic = catch_panic([&] { result = options_.on_start(context, job); });
  if (panic) {
    return fail(ErrorCode::Internal,
                fmt::format("bawn: on_start for call {} panicked: {}", quote(job.call.id),
                            plain_or_quoted(panic->value)));
  }
  return result;
}

void Batch::State::send_progress(std::size_t index, const ToolResult& update) {
  Sender self;
  std::unique_lock lock(mutex_);
  if (ended_[index]) {
    return;
  }
  offers_.push_back(
      {.event = {.index = index, .final = false, .outcome = update}, .sender = &self});
  events_.notify_one();
  taken_.wait(lock, [&] { return self.taken || context_.cancelled(); });
  if (self.taken) {
    return;
  }
  // Cancelled. Nobody need look at it any more, unless the consumer is just doing so.
  if (std::erase_if(offers_, [&](const Offer& offer) { return offer.sender == &self; }) == 0) {
    taken_.wait(lock, [&] { return self.taken; });
  }
}

// With the mutex held.
void Batch::State::offer_final(std::size_t index, Outcome outcome) {
  ended_[index] = true;
  offers_.push_back(
      {.event = {.index = index, .final = true, .outcome = std::move(outcome)}, .sender = nullptr});
  events_.notify_one();
}

std::optional<Event> Batch::State::next(bool watched) {
  std::unique_lock lock(mutex_);
  if (watching_ == std::this_thread::get_id()) {
    return std::nullopt;  // the job that waits for this on_update could never have its next event
  }
  events_.wait(lock, [&] {
    return !offers_.empty() || finals_left_ == 0 || (context_.cancelled() && unstarted_ > 0);
  });
  if (offers_.empty()) {
    return take_unstarted();
  }
  Offer offer = std::move(offers_.front());
  offers_.pop_front();
  if (offer.event.final) {
    --finals_left_;
    ++free_slots_;
    if (const auto next = successor_[offer.event.index]; next && !started_[*next]) {
      ready_.push(*next);
    }
    wake_worker();
    return std::move(offer.event);
  }
  watching_ = std::this_thread::get_id();
  lock.unlock();
  hand_on(offer, watched);
  return std::move(offer.event);
}

// Progress, to the job's own on_update. The sender waits until this is done, whatever that throws.
void Batch::State::hand_on(Offer& offer, bool watched) {
  struct Acknowledge {
    State* state;
    Sender* sender;
    ~Acknowledge() { state->acknowledge(*sender); }
  } const acknowledge{this, offer.sender};
  const Call& call = jobs_[offer.event.index].call;
  if (!watched || !call.on_update) {
    return;
  }
  if (const auto panic = catch_panic([&] { call.on_update(offer.event.outcome.result); })) {
    offer.event.outcome.error =
        Error(ErrorCode::Internal, fmt::format("bawn: on_update for call {} panicked: {}",
                                               quote(call.id), plain_or_quoted(panic->value)));
  }
}

// The final event of a job that a cancelled batch never started; none when all is over. With the
// mutex held.
std::optional<Event> Batch::State::take_unstarted() {
  if (unstarted_ == 0 || finals_left_ == 0) {
    return std::nullopt;
  }
  while (started_[first_left_]) {
    ++first_left_;
  }
  const std::size_t index = first_left_;
  started_[index] = true;
  ended_[index] = true;
  --unstarted_;
  --finals_left_;
  return Event{.index = index,
               .final = true,
               .outcome = refusal_ ? *refusal_ : cancellation_error(context_)};
}

void Batch::State::refuse(Error error) {
  {
    const std::scoped_lock lock(mutex_);
    refusal_ = std::move(error);
  }
  cancel();
}

void Batch::State::acknowledge(Sender& sender) {
  const std::scoped_lock lock(mutex_);
  watching_ = {};
  sender.taken = true;
  taken_.notify_all();
}

Batch::Workers::Workers(const std::shared_ptr<State>& state, int count) {
  try {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([state] { state->work(); });
    }
  } catch (const std::system_error& error) {
    // Fewer threads than allowed still run every job; none at all runs nothing.
    if (threads_.empty()) {
      state->refuse(Error::from_errno(error.code().value(), "pthread_create", "start a worker"));
    }
  }
}

Batch::Batch(std::shared_ptr<State> state, int workers)
    : state_(std::move(state)), workers_(std::make_unique<Workers>(state_, workers)) {}

Batch::Batch(Batch&& other) noexcept = default;

Batch::~Batch() {
  if (!state_) {
    return;
  }
  state_->cancel();
  while (state_->next(false)) {
  }
}

std::optional<Event> Batch::next() {
  return state_ ? state_->next(true) : std::nullopt;
}

}  // namespace bawn::contract
