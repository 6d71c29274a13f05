/// \file
/// Runs the calls of one model turn: in parallel where the tools allow it, in the model's order
/// where they do not, each exactly once, with every event handed to one consumer.
///
/// This is the only place of the contract that makes threads; a Batch owns and joins them.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/keyed.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/contract/tool.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace bawn::contract {

inline constexpr int kDefaultMaxParallel = 8;

/// One call and the tool that it names; a null tool ends with an error of its own.
struct Job {
  ToolPtr tool{};
  Call call{};
};

/// Something that happened to a job. Exactly one final event comes for each job, in the order of
/// completion, and no progress after it.
struct Event {
  std::size_t index = 0;  ///< of the job in the batch
  bool final = false;     ///< false: an update of a running tool, in `outcome.result`
  Outcome outcome{};      ///< of an update with an error only when the job's `on_update` threw
};

struct ExecutorOptions {
  int max_parallel = kDefaultMaxParallel;  ///< jobs at a time; 0 and less mean the default
  bool sequential = false;                 ///< one at a time in the model's order
  Recorder recorder{};  ///< for all calls of a batch; empty leaves the context's own
  std::shared_ptr<KeyedStore> keyed_store{};  ///< the same, for keyed tools
  /// Called on the job's thread when its turn has come, before the tool, with the call on the
  /// context. An error becomes the job's final event and the tool does not run. Jobs call it
  /// concurrently.
  std::function<Result<>(const Context& context, const Job& job)> on_start{};
};

/// A running batch. Destroying it cancels what runs, drops the events that are left and waits for
/// the tools; a tool that ignores cancellation holds the destructor up. One that was moved from is
/// over. It must outlive the `on_update` that `next` calls.
///
/// Threads: one consumer at a time.
class Batch {
 public:
  Batch(Batch&& other) noexcept;
  Batch& operator=(Batch&&) = delete;
  ~Batch();

  /// The next event; none once every job has had its final one. A job's slot is free and the next
  /// job of its chain starts only after its final event was taken here. A job's own `on_update` is
  /// called in here just before its progress event is returned; what it throws ends here, as the
  /// error of that event. From inside it there is no next event: none is returned at once.
  ///
  /// Blocking: until there is an event.
  [[nodiscard]] std::optional<Event> next();

 private:
  friend class Executor;
  class State;
  class Workers;
  Batch(std::shared_ptr<State> state, int workers);
  std::shared_ptr<State> state_;
  std::unique_ptr<Workers> workers_;
};

/// Starts batches. It closes nothing and never runs a job twice.
///
/// Threads: thread-safe.
class Executor {
 public:
  explicit Executor(ExecutorOptions options = {});

  /// The jobs that must run one after the other: all of them when the executor or any tool is
  /// sequential or the bound is one; else the jobs that name one resource, at the place of the
  /// first. A job that names several joins the chains of all of them. Every other job is a chain of
  /// its own. Where asking for `resources` throws, all jobs are one chain. Runs nothing. The
  /// context is what a tool's `resources` are asked with.
  [[nodiscard]] std::vector<std::vector<std::size_t>> chains(
      const std::vector<Job>& jobs, const Context& context = Context()) const;

  /// Starts the jobs. Cancelling `context` ends all of them: running tools by their context, those
  /// not started by a final event with the cancellation as error.
  [[nodiscard]] Batch start(const Context& context, std::vector<Job> jobs) const;

  /// Runs all jobs and returns their outcomes in job order. Progress goes to each job's own
  /// `on_update`, on this thread; what that throws is dropped, as only `Batch::next` tells it.
  /// Blocking: until the last job ended.
  [[nodiscard]] std::vector<Outcome> results(const Context& context, std::vector<Job> jobs) const;

 private:
  [[nodiscard]] int bound(const std::vector<Job>& jobs) const;
  ExecutorOptions options_;
};

/// What the terminate hints of a batch come to (C-140). A failed call's hint counts as any other.
enum class Termination {
  Continue,    ///< none, or an empty batch
  Partial,     ///< some: to be reported, not obeyed
  Terminated,  ///< all
};
[[nodiscard]] Termination termination_of(const std::vector<Outcome>& outcomes) noexcept;

/// The error of a call whose context was cancelled, by the context's reason.
[[nodiscard]] Error cancellation_error(const Context& context);

}  // namespace bawn::contract
