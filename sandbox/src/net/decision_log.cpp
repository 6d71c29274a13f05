#include "decision_log.hpp"

#include "bawn/contract/quote.hpp"

#include <algorithm>
#include <utility>

namespace bawn::sandbox::net {
namespace {
constexpr std::size_t kMaxHostShown = 255;
}

std::uint64_t DecisionLog::add(EgressDecision decision) {
  // What a client wrote as a host may be anything.
  decision.host.resize(std::min(decision.host.size(), kMaxHostShown));
  decision.host = contract::plain_or_quoted(decision.host);
  decision.time = std::chrono::system_clock::now();
  const std::scoped_lock lock(mutex_);
  decision.number = ++last_;
  kept_.push_back(std::move(decision));
  if (kept_.size() > most_) {
    kept_.pop_front();
  }
  return last_;
}

EgressDecision* DecisionLog::find(std::uint64_t number) {
  const std::uint64_t first = last_ - kept_.size() + 1;
  return number < first || number > last_ ? nullptr : &kept_[number - first];
}

void DecisionLog::add_bytes(std::uint64_t number, std::uint64_t sent, std::uint64_t received) {
  const std::scoped_lock lock(mutex_);
  if (EgressDecision* const decision = find(number)) {
    decision->sent += sent;
    decision->received += received;
  }
}

void DecisionLog::set_address(std::uint64_t number, std::string address) {
  const std::scoped_lock lock(mutex_);
  if (EgressDecision* const decision = find(number)) {
    decision->address = std::move(address);
  }
}

void DecisionLog::set_failure(std::uint64_t number, std::string failure) {
  const std::scoped_lock lock(mutex_);
  if (EgressDecision* const decision = find(number)) {
    decision->failure = std::move(failure);
  }
}

std::vector<EgressDecision> DecisionLog::after(std::uint64_t number) const {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t news = number < last_ ? last_ - number : 0;
  const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(news, kept_.size()));
  return {kept_.end() - count, kept_.end()};
}

std::uint64_t DecisionLog::last() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

}  // namespace bawn::sandbox::net
