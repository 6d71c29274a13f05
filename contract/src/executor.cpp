#include "bawn/contract/executor.hpp"

#include "batch.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace bawn::contract {

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

std::vector<std::vector<std::size_t>> Executor::chains(const std::vector<Job>& jobs) const {
  std::vector<std::vector<std::size_t>> chains;
  if (jobs.empty()) {
    return chains;
  }
  if (bound(jobs) == 1) {
    std::vector<std::size_t> all(jobs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    chains.push_back(std::move(all));
    return chains;
  }
  std::map<std::string, std::size_t> chain_of;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::string resource = jobs[i].tool ? resource_of(*jobs[i].tool) : std::string();
    const auto known = resource.empty() ? chain_of.end() : chain_of.find(resource);
    if (known != chain_of.end()) {
      chains[known->second].push_back(i);
      continue;
    }
    if (!resource.empty()) {
      chain_of.emplace(resource, chains.size());
    }
    chains.push_back({i});
  }
  return chains;
}

Batch Executor::start(const Context& context, std::vector<Job> jobs) const {
  const auto grouped = chains(jobs);
  const int workers = std::min(bound(jobs), static_cast<int>(grouped.size()));
  return Batch(std::make_shared<Batch::State>(context, std::move(jobs), grouped, options_),
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
