#include "bawn/contract/resource_order.hpp"

#include "bawn/contract/executor.hpp"
#include "resource_names.hpp"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace bawn::contract {

struct ResourceOrder::Entry {
  std::optional<std::vector<std::string>> resources;  ///< sorted; none: not yet known

  /// Whether one behind this must wait for it.
  [[nodiscard]] bool holds(const std::vector<std::string>& wanted) const {
    return !resources || std::ranges::any_of(
                             wanted, [&](const std::string& resource) { return shares(resource); });
  }

 private:
  [[nodiscard]] bool shares(const std::string& wanted) const {
    if (!is_view(wanted) && std::ranges::binary_search(*resources, wanted)) {
      return true;
    }
    return std::ranges::any_of(*resources, [&](const std::string& held) {
      return is_under(held, wanted) || is_under(wanted, held);
    });
  }
};

struct ResourceOrder::Line {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::list<std::shared_ptr<Entry>> entries;

  [[nodiscard]] bool is_first(const std::shared_ptr<Entry>& entry) const {
    for (const std::shared_ptr<Entry>& before : entries) {
      if (before == entry) {
        return true;
      }
      if (before->holds(*entry->resources)) {
        return false;
      }
    }
    return true;
  }
};

ResourceOrder::ResourceOrder() : line_(std::make_shared<Line>()) {}

ResourceOrder::Place ResourceOrder::arrive() {
  Place place;
  place.entry_ = std::make_shared<Entry>();
  place.line_ = line_;
  const std::scoped_lock lock(line_->mutex);
  line_->entries.push_back(place.entry_);
  return place;
}

ResourceOrder::Place& ResourceOrder::Place::operator=(Place&& other) noexcept {
  leave();
  line_ = std::move(other.line_);
  entry_ = std::move(other.entry_);
  return *this;
}

Result<> ResourceOrder::Place::wait(const Context& context, std::vector<std::string> resources) {
  if (line_ == nullptr) {
    return {};
  }
  std::ranges::sort(resources);
  std::unique_lock lock(line_->mutex);
  entry_->resources = std::move(resources);
  line_->changed.notify_all();
  const auto turn = [&] { return line_->is_first(entry_); };
  const auto deadline = context.deadline();
  const bool mine = deadline
                        ? line_->changed.wait_until(lock, context.stop_token(), *deadline, turn)
                        : line_->changed.wait(lock, context.stop_token(), turn);
  if (mine) {
    return {};
  }
  lock.unlock();
  leave();
  const bool late = !context.cancelled();
  return std::unexpected(late ? Error(ErrorCode::DeadlineExceeded, "the call's deadline passed")
                              : cancellation_error(context));
}

void ResourceOrder::Place::leave() noexcept {
  if (line_ == nullptr) {
    return;
  }
  {
    const std::scoped_lock lock(line_->mutex);
    std::erase(line_->entries, entry_);
  }
  line_->changed.notify_all();
  line_.reset();
  entry_.reset();
}

}  // namespace bawn::contract
