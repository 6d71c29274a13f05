#include "bawn/contract/executor.hpp"

#include "batch.hpp"
#include "bawn/contract/panic.hpp"
#include "resource_names.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace bawn::contract {
namespace {

/// Disjoint sets of jobs, each known by its first member.
class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  [[nodiscard]] std::size_t first_of(std::size_t job) const {
    while (parent_[job] != job) {
      job = parent_[job];
    }
    return job;
  }
  void join(std::size_t one, std::size_t other) {
    const auto [low, high] = std::minmax({first_of(one), first_of(other)});
    parent_[high] = low;
  }

 private:
  std::vector<std::size_t> parent_;
};

void join_sharers(const std::vector<Job>& jobs, const Context& context, Groups& groups) {
  std::map<std::string, std::size_t> first_with;
  std::vector<std::pair<std::string, std::size_t>> views;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].tool) {
      continue;
    }
    for (std::string& resource : resources_of(*jobs[i].tool, context, jobs[i].call.args)) {
      if (is_view(resource)) {
        views.emplace_back(std::move(resource), i);
      } else {
        groups.join(first_with.emplace(std::move(resource), i).first->second, i);
      }
    }
  }
  for (const auto& [view, job] : views) {
    for (const auto& [name, first] : first_with) {
      if (is_under(name, view)) {
        groups.join(first, job);
      }
    }
  }
}

}  // namespace

Executor::Executor(ExecutorOptions options) : options_(std::move(options)) {}

int Executor::bound(const std::vector<Job>& jobs) const {
  const bool serial =
      options_.sequential || std::any_of(jobs.begin(), jobs.end(), [](const Job& job) {
        return job.tool && is_sequential(*job.tool);
      });
  if (serial) {
    return 1;
  }
  return options_.max_parallel > 0 ? options_.max_parallel : kDefaultMaxParallel;
}

std::vector<std::vector<std::size_t>> Executor::chains(const std::vector<Job>& jobs,
                                                       const Context& context) const {
  std::vector<std::vector<std::size_t>> chains;
  if (jobs.empty()) {
    return chains;
  }
  Groups groups(jobs.size());
  // Where a tool throws when it is asked what its call shares, nothing may run beside anything.
  const bool serial = bound(jobs) == 1 || catch_panic([&] { join_sharers(jobs, context, groups); });
  for (std::size_t i = 1; serial && i < jobs.size(); ++i) {
    groups.join(0, i);
  }
  std::map<std::size_t, std::size_t> chain_of;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto [known, is_new] = chain_of.emplace(groups.first_of(i), chains.size());
    if (is_new) {
      chains.emplace_back();
    }
    chains[known->second].push_back(i);
  }
  return chains;
}

Batch Executor::start(const Context& context, std::vector<Job> jobs) const {
  const auto grouped = chains(jobs, context);
  const int slots = bound(jobs);
  const int workers = std::min(slots, static_cast<int>(grouped.size()));
  return Batch(std::make_shared<Batch::State>(context, std::move(jobs), grouped, slots, options_),
               workers);
}

std::vector<Outcome> Executor::results(const Context& context, std::vector<Job> jobs) const {
  std::vector<Outcome> outcomes(jobs.size());
  Batch batch = start(context, std::move(jobs));
  while (auto event = batch.next()) {
    if (event->final) {
      outcomes[event->index] = std::move(event->outcome);
    }
  }
  return outcomes;
}

Termination termination_of(const std::vector<Outcome>& outcomes) noexcept {
  const auto wanted = static_cast<std::size_t>(
      std::count_if(outcomes.begin(), outcomes.end(),
                    [](const Outcome& outcome) { return outcome.result.terminate; }));
  if (wanted == 0) {
    return Termination::Continue;
  }
  return wanted == outcomes.size() ? Termination::Terminated : Termination::Partial;
}

Error cancellation_error(const Context& context) {
  switch (context.reason().value_or(CancelReason::Cancelled)) {
    case CancelReason::Deadline:
      return {ErrorCode::DeadlineExceeded, "the call's deadline passed"};
    case CancelReason::Closed:
      return {ErrorCode::Closed, "the call's session was closed"};
    case CancelReason::Cancelled:
      break;
  }
  return {ErrorCode::Cancelled, "the call was cancelled"};
}

}  // namespace bawn::contract
