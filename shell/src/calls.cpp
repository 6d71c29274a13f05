#include "calls.hpp"

#include <algorithm>
#include <utility>

namespace bawn::shell {

void Calls::add(CallPtr call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
  // The oldest finished ones go; a running one stays however old it is.
  for (auto it = calls_.begin(); calls_.size() > keep_ && it != calls_.end();) {
    it = (*it)->finished() ? calls_.erase(it) : it + 1;
  }
}

void Calls::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(calls_, [&](const CallPtr& call) { return call->id == id; });
}

CallPtr Calls::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const CallPtr& call) { return call->id == id; });
  return found == calls_.end() ? nullptr : *found;
}

std::vector<CallPtr> Calls::all() const {
  const std::lock_guard lock(mutex_);
  return {calls_.begin(), calls_.end()};
}

void Calls::mark_unseen(const std::string& id) {
  const std::lock_guard lock(mutex_);
  unseen_.push_back(id);
}

std::vector<std::string> Calls::take_unseen() {
  const std::lock_guard lock(mutex_);
  return std::exchange(unseen_, {});
}

}  // namespace bawn::shell
