#include "bawn/contract/registry.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

namespace bawn::contract {
namespace {

std::unexpected<Error> duplicate(std::string_view name, std::string_view where) {
  return fail(ErrorCode::AlreadyExists,
              fmt::format("tool: duplicate tool: {} {}", quote(name), where));
}

}  // namespace

Result<> Registry::add(const std::vector<ToolPtr>& tools) {
  std::map<std::string, Binding, std::less<>> batch;
  std::vector<std::string> order;
  std::optional<std::size_t> repeated;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    auto binding = Binding::bind(tools[i]);
    if (!binding) {
      return std::unexpected(binding.error().wrap(fmt::format("tools[{}]", i)));
    }
    order.push_back(binding->contract().definition().name);
    if (!batch.emplace(order.back(), *std::move(binding)).second && !repeated) {
      repeated = i;
    }
  }
  const std::unique_lock lock(mutex_);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (repeated == i) {
      return duplicate(order[i], "appears more than once in batch");
    }
    if (bindings_.contains(order[i])) {
      return duplicate(order[i], "is already registered");
    }
  }
  bindings_.merge(std::move(batch));
  return {};
}

std::vector<Definition> Registry::definitions() const {
  const std::shared_lock lock(mutex_);
  std::vector<Definition> all;
  all.reserve(bindings_.size());
  for (const auto& [name, binding] : bindings_) {
    all.push_back(binding.contract().definition());
  }
  return all;
}

std::optional<Binding> Registry::resolve(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = bindings_.find(name);
  return found == bindings_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace bawn::contract
