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
                    const std::vector<std::vector<std::size_t>>& chains, ExecutorOptions options)
    : cancel_(context),
      context_(cancel_.context()),
      options_(std::move(options)),
      jobs_(std::move(jobs)),
      successor_(jobs_.size()),
      ended_(jobs_.size(), false),
      finals_left_(jobs_.size()) {
  if (options_.recorder) {
    context_ = with_recorder(context_, options_.recorder);
  }
  if (options_.keyed_store) {
    context_ = with_keyed_store(context_, options_.keyed_store);
  }
  for (const auto& chain : chains) {
    ready_.insert(chain.front());
    unstarted_.insert(chain.begin(), chain.end());
    for (std::size_t i = 1; i < chain.size(); ++i) {
      successor_[chain[i - 1]] = chain[i];
    }
  }
}

void Batch::State::work() {
  while (const auto index = take_turn()) {
    send_final(*index, run(*index));
  }
}

// None when there is nothing left to start. A cancelled batch starts nothing more: the consumer
// itself makes the final events of the jobs that have not started.
std::optional<std::size_t> Batch::State::take_turn() {
  std::unique_lock lock(mutex_);
  const auto turn = [&] { return !ready_.empty() || unstarted_.empty(); };
  changed_.wait(lock, context_.stop_token(), turn);
  if (context_.cancelled() || ready_.empty()) {
    return std::nullopt;
  }
  const std::size_t index = *ready_.begin();
  ready_.erase(index);
  unstarted_.erase(index);
  if (unstarted_.empty()) {
    changed_.notify_all();  // idle workers may go
  }
  return index;
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
  Offer offer{.event = {.index = index, .final = false, .outcome = update}};
  std::unique_lock lock(mutex_);
  if (ended_[index]) {
    return;
  }
  offers_.push_back(&offer);
  changed_.notify_all();
  const auto taken = [&] { return offer.taken; };
  if (changed_.wait(lock, context_.stop_token(), taken)) {
    return;
  }
  // Cancelled. Nobody need look at it any more, unless the consumer is just doing so.
  if (std::erase(offers_, &offer) == 0) {
    changed_.wait(lock, taken);
  }
}

void Batch::State::send_final(std::size_t index, Outcome outcome) {
  Offer offer{.event = {.index = index, .final = true, .outcome = std::move(outcome)}};
  std::unique_lock lock(mutex_);
  ended_[index] = true;
  offers_.push_back(&offer);
  changed_.notify_all();
  changed_.wait(lock, [&] { return offer.taken; });
}

std::optional<Event> Batch::State::next(bool watched) {
  Offer* offer = nullptr;
  {
    std::unique_lock lock(mutex_);
    const auto something = [&] {
      return !offers_.empty() || finals_left_ == 0 || (context_.cancelled() && !unstarted_.empty());
    };
    if (!changed_.wait(lock, context_.stop_token(), something)) {
      changed_.wait(lock, something);
    }
    if (offers_.empty()) {
      return take_event();
    }
    offer = offers_.front();
    offers_.pop_front();
  }
  Event event = std::move(offer->event);
  // The sender waits until this is done, whatever the callback throws.
  struct Acknowledge {
    State* state;
    Offer* offer;
    ~Acknowledge() { state->acknowledge(offer); }
  } const acknowledge{this, offer};
  const auto& on_update = jobs_[event.index].call.on_update;
  if (watched && !event.final && on_update) {
    on_update(event.outcome.result);
  }
  if (event.final) {
    const std::scoped_lock lock(mutex_);
    --finals_left_;
    if (const auto next = successor_[event.index]; next && unstarted_.contains(*next)) {
      ready_.insert(*next);
    }
  }
  return event;
}

// The final event of a job that a cancelled batch never started; none when all is over.
std::optional<Event> Batch::State::take_event() {
  if (unstarted_.empty() || finals_left_ == 0) {
    return std::nullopt;
  }
  const std::size_t index = *unstarted_.begin();
  unstarted_.erase(index);
  ready_.erase(index);
  ended_[index] = true;
  --finals_left_;
  changed_.notify_all();
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

void Batch::State::acknowledge(Offer* offer) {
  const std::scoped_lock lock(mutex_);
  offer->taken = true;
  changed_.notify_all();
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
  return state_->next(true);
}

}  // namespace bawn::contract
